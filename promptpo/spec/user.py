"""The user's own spec file: what it defines replaces what would be generated."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from promptpo.errors import UsageError
from promptpo.files import read_text
from promptpo.spec.reading import BLOCKS, Reading, read


class UserSpec(NamedTuple):
    """A spec file as the user wrote it; it is parsed and never executed.

    Attributes:
        path: The file, for error messages.
        text: All of it.
        reading: What it says.
    """

    path: str
    text: str
    reading: Reading


def read_spec_file(path: str) -> UserSpec:
    """Read a spec file.

    Raises:
        UsageError: It cannot be read, is no valid Python, or defines nothing that a spec has.
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
    """The user's file, followed by the generated definitions that it lacks."""
    missing = [block for name, block in read(text).blocks.items() if name not in user.reading.blocks]
    return "\n\n\n".join([user.text.rstrip(), *missing]) + "\n"
