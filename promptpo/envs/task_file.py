"""Variants of a task in a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from promptpo.envs.task import Variant
from promptpo.errors import UsageError
from promptpo.files import read_toml

TABLES = ("task", "held_out")
KEYS = ("env", "kwargs")


def read_tasks(path: Path) -> tuple[tuple[Variant, ...], tuple[Variant, ...]]:
    """The variants of training and those held out.

    ``[[task]]`` and ``[[held_out]]`` each have ``kwargs``, a table of keyword arguments, ``env``, another
    environment than the command names, or both.

    Raises:
        UsageError: The file cannot be read, or says something else.
    """
    content = read_toml(path)
    unknown = next((name for name in content if name not in TABLES), None)
    if unknown is not None:
        raise UsageError(
            f"{path}: there is no {unknown!r}; it has [[task]] and [[held_out]], each with kwargs or env."
        )
    training, held_out = (
        tuple(_variant(path, name, row) for row in _rows(path, name, content)) for name in TABLES
    )
    if not training:
        raise UsageError(f"{path} has no [[task]]; write one for each variant, with its kwargs.")
    return training, held_out


def _rows(path: Path, name: str, content: dict[str, Any]) -> list[Any]:
    rows = content.get(name, [])
    if not isinstance(rows, list):
        raise UsageError(f"{path}: write [[{name}]] with two brackets, once for each variant.")
    return rows


def _variant(path: Path, name: str, row: Any) -> Variant:
    if not isinstance(row, dict) or any(key not in KEYS for key in row):
        raise UsageError(
            f"{path}: [[{name}]] has kwargs and env, not {', '.join(row) if isinstance(row, dict) else row}."
        )
    kwargs, env = row.get("kwargs", {}), row.get("env", "")
    if not isinstance(kwargs, dict) or not isinstance(env, str):
        raise UsageError(
            f"{path}: in [[{name}]], kwargs is a table such as {{ floors = 6 }}, and env a name in quotes."
        )
    return Variant(kwargs, env)
