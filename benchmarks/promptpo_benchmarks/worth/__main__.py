"""Measure mechanisms: `python -m promptpo_benchmarks.worth` prints the table of ablations.

`--label NAME` measures first: replayed recordings and program search without a model, with the current code or with
that of another checkout (`--python "/path/to/its/python"`), since a removed mechanism exists only in an earlier
revision. All are scored on the same fresh episodes, by the current code. Rows that are in the file are not measured
again, so a measurement can be stopped, and done in parts (`--part 2/4`).
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptpo_benchmarks.worth.cases import RESULTS, cases
from promptpo_benchmarks.worth.runs import Judged, measure
from promptpo_benchmarks.worth.table import render_worth

ROWS, TUNED = RESULTS / "worth" / "rows.jsonl", RESULTS / "tuning"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure missing rows if a label is given, then print the table."""
    parser = argparse.ArgumentParser(prog="python -m promptpo_benchmarks.worth", description=__doc__)
    parser.add_argument("--label", default="", help="name of the version to measure")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of that version")
    parser.add_argument(
        "--option", action="append", default=[], help="of `promptpo optimize`, as --option=K=V"
    )
    parser.add_argument("--only", nargs="*", default=[""], help="cases whose names have one of these words")
    parser.add_argument("--part", default="1/1", help="which part of the cases, such as 2/4")
    parser.add_argument("--rows", type=Path, default=ROWS)
    options = parser.parse_args(arguments)
    rows = _read(options.rows)
    if options.label:
        part, parts = (int(word) for word in options.part.split("/"))
        chosen = [case for case in cases() if any(word in case.name for word in options.only)][
            part - 1 :: parts
        ]
        judged: Judged = {
            (row["task"], digest): score for row in rows for digest, score in row["judged"].items()
        }
        known = {row["case"] for row in rows if row["label"] == options.label}
        switches = [word for option in options.option for word in ("--option", option)]
        for case in chosen:
            if case.name not in known:
                row = {"label": options.label, "case": case.name}
                try:
                    command = [*shlex.split(options.python), "-m", "promptpo"]
                    row |= measure(case, command, switches, judged)
                except (subprocess.SubprocessError, OSError) as error:
                    print(f"{case.name}: {error}", file=sys.stderr, flush=True)
                    continue
                rows.append(row)
                options.rows.parent.mkdir(parents=True, exist_ok=True)
                with options.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)
    print(render_worth([*rows, *(row for path in TUNED.glob("paired*.jsonl") for row in _read(path))]))


def _read(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


if __name__ == "__main__":
    main()
