"""The user's own spec file: what it defines replaces what would be generated."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.errors import UsageError
from promptpo.files import read_text
from promptpo.spec.render import block_of

if TYPE_CHECKING:
    from promptpo.spec.parts import Parts

BLOCKS = ("State", "Action", "reward", "EPISODE")
"""The definitions that make up a spec."""


@dataclass(frozen=True, slots=True)
class UserSpec:
    """A spec file as the user wrote it; it is parsed and never executed.

    Attributes:
        text: The whole file.
        defined: Which of `BLOCKS` it defines.
    """

    text: str
    defined: tuple[str, ...]


def read_spec_file(path: str) -> UserSpec:
    """Read a spec file.

    Raises:
        UsageError: It cannot be read, or is no valid Python.
    """
    text = read_text(Path(path))
    try:
        return parse_spec(text)
    except SyntaxError as error:
        raise UsageError(
            f"{path}, line {error.lineno}: a spec has to be valid Python ({error.msg})."
        ) from error


def parse_spec(text: str) -> UserSpec:
    """Find out what a spec's text defines.

    Raises:
        SyntaxError: It is no valid Python.
    """
    names = {name for node in ast.parse(text).body for name in _defined(node)}
    return UserSpec(text, tuple(name for name in BLOCKS if name in names))


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def merged(user: UserSpec, parts: Parts) -> tuple[str, tuple[str, ...]]:
    """The user's file, followed by the generated definitions that it lacks, and what the user wrote."""
    missing = [block for name in BLOCKS if name not in user.defined and (block := block_of(parts, name))]
    return "\n\n\n".join([user.text.rstrip(), *missing]) + "\n", user.defined
