"""The user's own spec file: what it defines replaces what would be generated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from promptpo.errors import UsageError
from promptpo.files import read_text
from promptpo.spec.reading import BLOCKS, read


@dataclass(frozen=True, slots=True)
class UserSpec:
    """A spec file as the user wrote it; it is parsed and never executed.

    Attributes:
        text: The whole file.
        defined: Which of `BLOCKS` it defines.
        path: The file, for error messages.
    """

    text: str
    defined: tuple[str, ...]
    path: str = "the spec"


def read_spec_file(path: str) -> UserSpec:
    """Read a spec file.

    Raises:
        UsageError: It cannot be read, is no valid Python, or defines nothing that a spec has.
    """
    text = read_text(Path(path))
    try:
        found = parse_spec(text, path)
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise UsageError(f"{path}{where}: a spec has to be valid Python ({error.msg}).") from error
    if not found.defined:
        raise UsageError(
            f"{path} is no spec: it defines none of {', '.join(BLOCKS)}; promptpo spec ENV_ID -o FILE writes one."
        )
    return found


def parse_spec(text: str, path: str = "the spec") -> UserSpec:
    """Find out what a spec's text defines.

    Args:
        text: The spec.
        path: Where it stands.

    Raises:
        SyntaxError: It is no valid Python.
    """
    return UserSpec(text, tuple(read(text).blocks), path)


def merged(user: UserSpec, text: str) -> tuple[str, tuple[str, ...]]:
    """The user's file, followed by the generated definitions that it lacks, and what the user wrote."""
    missing = [block for name, block in read(text).blocks.items() if name not in user.defined]
    return "\n\n\n".join([user.text.rstrip(), *missing]) + "\n", user.defined
