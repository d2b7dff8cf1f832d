"""Read the user's spec file, whose definitions replace generated ones."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from promptpo.errors import UsageError
from promptpo.files import read_text
from promptpo.spec.reading import BLOCKS, Reading, read


class UserSpec(NamedTuple):
    """A user's spec file; it is parsed, never executed.

    Attributes:
        path: Its path, for error messages.
        text: Its text.
        reading: Its parsed content.
    """

    path: str
    text: str
    reading: Reading


def read_spec_file(path: str) -> UserSpec:
    """Read a spec file.

    Raises:
        UsageError: The file cannot be read, is not valid Python, or has none of a spec's definitions.
    """
    text = read_text(Path(path))
    try:
        found = UserSpec(path, text, read(text))
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise UsageError(f"{path}{where}: a spec has to be valid Python ({error.msg}).") from error
    if not found.reading.blocks:
        raise UsageError(
            f"{path} is not a spec: it defines none of {', '.join(BLOCKS)}; promptpo spec ENV_ID -o FILE writes one."
        )
    return found


def merge_specs(user: UserSpec, text: str) -> str:
    """Append the generated definitions that the user's file lacks."""
    missing = [block for name, block in read(text).blocks.items() if name not in user.reading.blocks]
    return "\n\n\n".join([user.text.rstrip(), *missing]) + "\n"
