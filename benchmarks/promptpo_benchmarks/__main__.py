"""``python -m promptpo_benchmarks SUITE …``, the same as ``promptpo benchmark SUITE …``."""

import sys

from promptpo_benchmarks.cli import app
from promptpo_benchmarks.measuring.commands import run_command

if __name__ == "__main__":
    sys.exit(run_command(lambda: app(prog_name="promptpo benchmark", standalone_mode=True)))
