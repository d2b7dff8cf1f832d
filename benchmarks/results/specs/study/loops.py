"""Whole loops on the ten inventions: `python benchmarks/results/specs/study/loops.py RUN...`

Plays the program that each run returned on the ten starts on which the study's first answers were played, its numbers as the run
tuned them, and appends a row for each run to ../loops.jsonl. `... loops.py` alone prints the table: 0 is the worst and 1 the best of the
recorded first answers to that environment (../rows.jsonl), so a score above 1 beats them all.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from inventions import INVENTIONS
from promptpo.run.config_file import CONFIG, load_config
from promptpo.run.state import read_state
from promptpo_benchmarks.paired_prompts import STARTS, mean_return
from promptpo_sandbox import Sandbox

RESULTS = Path(__file__).parents[1]


def read_rows(name: str) -> list[dict[str, Any]]:
    """Rows of a file of results."""
    return [json.loads(line) for line in (RESULTS / name).read_text(encoding="utf-8").splitlines()]


def play(run: Path, box: Sandbox) -> dict[str, Any]:
    """The row of one run."""
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    name = result["env_id"].split(":")[-1]
    chosen = result["best"]["candidate"]
    source = next(a.candidate.source for a in read_state(run).history.attempts if str(a.id) == chosen)
    return {
        "run": run.parent.name if run.name == "run" else run.name,
        "env": name,
        "seed": load_config(run / CONFIG).seed,
        "reader": run.parent.name.split("-")[0],
        "earned": mean_return({"env": INVENTIONS[name]}, source, box, STARTS),
        "held_out": result["test"] and result["test"]["mean_return"],
        "held_out_95": result["test"] and result["test"]["ci95"],
        "steps": result["searched_steps"],
        "stop": str(result["stop_reason"])[:200],
    }


def print_table() -> None:
    """Scores by environment and reader, and their median."""
    first = [row for row in read_rows("rows.jsonl") if row["earned"] is not None]
    scores = []
    for name in INVENTIONS:
        known = [row["earned"] for row in first if row["env"] == name]
        low, high = min(known), max(known)
        rows = [row for row in read_rows("loops.jsonl") if row["env"] == name]
        normalised = [(row["earned"] - low) / (high - low) for row in rows if row["earned"] is not None]
        scores += normalised
        cells = " ".join(f"{row['reader']}:{row['earned']:.4g}" for row in rows)
        print(f"{name:12} {low:9.4g} {high:9.4g}  {cells}  ({' '.join(f'{s:.3f}' for s in normalised)})")
    print(f"median {statistics.median(scores):.3f} of {len(scores)} runs; {sum(s >= 0.95 for s in scores)} at least 0.95")


if len(sys.argv) == 1:
    print_table()
else:
    with Sandbox() as box, (RESULTS / "loops.jsonl").open("a", encoding="utf-8") as rows:
        for argument in sys.argv[1:]:
            row = play(Path(argument), box)
            print(row, flush=True)
            rows.write(json.dumps(row) + "\n")
