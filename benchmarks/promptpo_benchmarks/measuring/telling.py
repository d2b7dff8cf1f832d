"""Errors of ours as one sentence, for commands that are modules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from promptpo.errors import PromptPOError, UsageError


def run_command(main: Callable[[], Any]) -> int:
    """Run a command; 2 where it was used wrongly, 1 where it failed, with the sentence on standard error."""
    try:
        main()
    except PromptPOError as error:
        print(f"promptpo: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0
