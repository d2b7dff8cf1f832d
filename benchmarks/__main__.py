"""``python -m benchmarks SUITE …``, the same as ``promptpo benchmark SUITE …``."""

import sys

import typer

from benchmarks.cli import app
from promptpo.errors import PromptPOError, UsageError


def main() -> int:
    """Run the command and turn our errors into one sentence."""
    try:
        app(prog_name="promptpo benchmark", standalone_mode=True)
    except PromptPOError as error:
        typer.echo(f"promptpo: {error}", err=True)
        return 2 if isinstance(error, UsageError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
