"""Prompts written to a folder, answered one by one by a model or person, and read back with their answers."""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from promptpo.errors import UsageError
from promptpo.program import answers

INDEX = "prompts.jsonl.xz"
"""Says which version wrote each prompt; not for whoever answers."""

Row = dict[str, Any]


def check_new(folder: Path) -> None:
    """Check that a folder has no prompts.

    Raises:
        UsageError: It has some.
    """
    if (folder / INDEX).exists():
        raise UsageError(f"{folder} has prompts already; name another folder.")


def write_prompts(folder: Path, rows: Sequence[Row]) -> None:
    """Write DIR/q/NNNN.prompt in shuffled order, and the index; the text of a row is under "text"."""
    order = [dict(row) for row in rows]
    random.Random(0).shuffle(order)  # noqa: S311 - an order, no secret
    (folder / "q").mkdir(parents=True, exist_ok=True)
    with lzma.open(folder / INDEX, "wt", encoding="utf-8") as file:
        for n, row in enumerate(order):
            text = row.pop("text")
            (folder / "q" / f"{n:04d}.prompt").write_text(text, encoding="utf-8")
            file.write(json.dumps({"n": n, "characters": len(text), **row}) + "\n")


def read_answers(folder: Path) -> Iterator[tuple[Row, str | None]]:
    """Yield the rows whose DIR/q/NNNN.answer exists, each with the answer's program; None if it has none."""
    with lzma.open(folder / INDEX, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            path = folder / "q" / f"{row['n']:04d}.answer"
            if path.exists():
                found = answers.extract_program(path.read_text(encoding="utf-8"))
                yield row, None if found.problem else found.source


def report_rows(folder: Path, rows: Sequence[Row], table: Callable[[Sequence[Row]], Sequence[str]]) -> None:
    """Write DIR/rows.jsonl and print the table of its rows."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print("\n".join(table(rows)))


def command(prog: str, doc: str) -> argparse.ArgumentParser:
    """Return the argument parser of such a study; the folder is made absolute."""
    parser = argparse.ArgumentParser(prog=prog, description=doc)
    parser.add_argument(
        "what", choices=["render", "score"], help="write prompts, or play answers and print the table"
    )
    parser.add_argument("folder", type=lambda text: Path(text).absolute(), metavar="DIR")
    return parser
