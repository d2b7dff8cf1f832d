"""Read the variants of a task from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import (
    Any,
    Required,  # pydantic's own
)

from typing_extensions import TypedDict

from promptpo.envs.task import Variant
from promptpo.errors import UsageError
from promptpo.files import read_toml

FORM = (
    "the file has [[task]] and [[held_out]] with two brackets, once for each variant, where kwargs is a table such as "
    "{ floors = 6 }, and env a name in quotes."
)


class _Row(TypedDict, total=False):
    __pydantic_config__ = {"extra": "forbid"}  # type: ignore[misc]  # noqa: RUF012 - so pydantic reads it
    kwargs: dict[str, Any]
    env: str


class _Tables(TypedDict, total=False):
    __pydantic_config__ = {"extra": "forbid"}  # type: ignore[misc]  # noqa: RUF012 - so pydantic reads it
    task: Required[list[_Row]]
    held_out: list[_Row]


def read_tasks(path: Path) -> tuple[tuple[Variant, ...], tuple[Variant, ...]]:
    """Read the training variants and the held-out variants from a file.

    Each ``[[task]]`` or ``[[held_out]]`` has ``kwargs``, a table of keyword arguments, ``env``, an environment
    other than the command's, or both.

    Raises:
        UsageError: The file cannot be read, or has another form.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        tables = TypeAdapter(_Tables).validate_python(read_toml(path), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = " ".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: {where}: {first['msg'].lower()}; {FORM}") from error
    training, held_out = (
        tuple(Variant(row.get("kwargs", {}), row.get("env", "")) for row in rows)
        for rows in (tables["task"], tables.get("held_out", []))
    )
    return training, held_out
