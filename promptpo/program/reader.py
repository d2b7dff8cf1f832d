"""Parsing of text from models, guests and strangers in a confined process, the reader; the host gets plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from promptpo_sandbox.reader import UnreadableError, reader

__all__ = ["UnreadableError", "read"]

_READING = "promptpo.program.confined.reading"

reader.know(_READING, str(Path(__file__).parents[1]))


def read(function: str, *arguments: Any) -> Any:
    """Call a function of `promptpo.program.confined.reading` in the confined reader.

    Raises:
        UnreadableError: The text cannot be read within the reader's limits.
    """
    return reader.read(_READING, function, *arguments)
