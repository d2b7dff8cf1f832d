"""Rows of measurements in a CSV file, so that a benchmark goes on where it stopped."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from promptpo.files import write_atomically

Row = TypeVar("Row")

KINDS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "int | None": lambda text: int(text) if text else None,
}


def read_rows(path: Path | None, kind: type[Row]) -> list[Row]:
    """Rows of an earlier pass; none where there is no file.

    Args:
        path: The file.
        kind: A dataclass of texts and numbers; columns that an older file lacks have their defaults.
    """
    if path is None or not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            kind(**{f.name: KINDS[str(f.type)](one[f.name]) for f in fields(kind) if f.name in one})  # type: ignore[arg-type]
            for one in csv.DictReader(file)
        ]


def write_rows(path: Path, rows: Sequence[Any]) -> None:
    """All rows, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(rows[0])], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    write_atomically(path, text.getvalue())
