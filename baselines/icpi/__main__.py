"""``python -m baselines.icpi icpi …`` and ``python -m baselines.icpi probe …``."""

from __future__ import annotations

import sys

import typer

from baselines.icpi.cli import icpi, icpi_probe
from promptpo.errors import PromptPOError, UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
app.command("icpi")(icpi)
app.command("probe")(icpi_probe)


def main() -> None:
    """Run a command; an error is one sentence, without a traceback. Exit code 2: wrong usage."""
    try:
        app()
    except PromptPOError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)


if __name__ == "__main__":
    main()
