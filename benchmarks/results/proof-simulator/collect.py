"""Collect runs with a simulator into rows of the suite ``proof``.

`python collect.py RUN…` writes ``results.csv`` into the working directory, below which the runs lie: a row for each run, with the columns of a
published benchmark and, after them, the steps in the simulator and the held-out returns of the program and the network. Where a run ended before a
validation episode and is sufficient on the test seeds, all of its real steps and calls stand for those until a policy was sufficient.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

from promptpo_benchmarks.runner.cells import Cell
from promptpo_benchmarks.runner.methods import METHODS
from promptpo_benchmarks.runner.suite import load_suite
from promptpo_benchmarks.statistics.anchors import anchors_of
from promptpo_benchmarks.statistics.rows import CSV, SUFFICIENT_SCORE, read_rows, write_csv

MODEL = "a large language model answered each prompt in turn"
MORE_COLUMNS = ("steps_simulated", "program", "network")


def main(directories: list[Path]) -> None:
    """Write the rows of these run directories."""
    suite = load_suite("proof")
    tasks = {task.env: task for task in suite.tasks}
    contents = [json.loads((directory / "result.json").read_text()) for directory in directories]
    cells = [
        Cell(tasks[content["env_id"]], METHODS["promptpo-simulate"], MODEL, content["seed"], directory)
        for directory, content in zip(directories, contents, strict=True)
    ]
    path = Path.cwd() / CSV
    anchors = anchors_of({task.label: suite.score_of(task) for task in suite.tasks})
    write_csv(path, read_rows(suite, cells), anchors)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *MORE_COLUMNS], lineterminator="\n")
        writer.writeheader()
        for row, content, directory in zip(rows, contents, directories, strict=True):
            row |= dict(zip(MORE_COLUMNS, _simulated(content), strict=True))
            row["directory"] = directory.parent.name
            score = anchors[row["task"]].normalize(float(row["score"]))
            if not row["steps_to_95"] and score >= SUFFICIENT_SCORE:
                row |= {"steps_to_95": row["steps_searched"], "calls_to_95": row["calls"]}
            writer.writerow(row)


def _simulated(content: dict[str, Any]) -> tuple[int | str, float | str, float | str]:
    """Return the simulated steps and the held-out returns of the program and the network."""
    products = content.get("products") or {}
    program, network = (
        round(products[kind]["test"]["mean_return"], 4) if kind in products else "" for kind in MORE_COLUMNS[1:]
    )
    return content["simulator"]["steps"]["simulated"] if "simulator" in content else "", program, network


if __name__ == "__main__":
    main([Path(argument).resolve() for argument in sys.argv[1:]])
