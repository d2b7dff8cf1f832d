"""``python -m benchmarks SUITE …``, the same as ``promptpo benchmark SUITE …``."""

import sys

from benchmarks.cli import app
from benchmarks.measuring.telling import told

if __name__ == "__main__":
    sys.exit(told(lambda: app(prog_name="promptpo benchmark", standalone_mode=True)))
