"""Reporting of our own errors in one sentence, for modules that are commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from promptpo.errors import PromptPOError, UsageError


def run_command(main: Callable[[], Any]) -> int:
    """Run a command; return 2 for wrong usage, 1 for failure, with the message on standard error."""
    try:
        main()
    except PromptPOError as error:
        print(f"promptpo: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0
