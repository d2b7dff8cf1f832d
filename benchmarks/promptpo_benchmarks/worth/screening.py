"""Screen the constants of the search, all in the same runs: `python -m promptpo_benchmarks.worth.screening`.

In each run, each constant not measured separately has about half or twice its value, at random (a two-level screening
design, Plackett and Burman 1946, with random columns), so every run informs about all. `--runs 40` adds runs; without
it, effects are printed: the normalised score at twice the value minus that at half of it, with its 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo_benchmarks.statistics.anchors import load_anchors
from promptpo_benchmarks.tuning.paired import STRUCTURES
from promptpo_benchmarks.worth.cases import RESULTS, cases
from promptpo_benchmarks.worth.runs import Judged, measure
from promptpo_benchmarks.worth.table import scores

CONSTANTS, ROWS = RESULTS / "worth" / "constants.toml", RESULTS / "worth" / "screening.jsonl"

KINDS = ("search", "tuning")
"""Program search without a model, and the tuner on recorded structures."""

TUNED_STEPS = 30_000

Row = dict[str, Any]


def factors(kind: str) -> dict[str, tuple[float, float]]:
    """Return each number that a kind of run depends on and that is not a definition, with its low and high value."""
    rooms = ("features/tuning/",) if kind == "tuning" else ("core/", "features/")
    table = tomllib.loads(CONSTANTS.read_text(encoding="utf-8"))["constant"]
    found = {}
    for row in table:
        if row["where"].removeprefix("promptpo/").startswith(rooms) and row["status"] != "definition":
            value = parse_number(row["value"])
            if value is not None:
                place = row["where"].removesuffix(".py").replace("/", ".")
                found[f"{place}.{row['name']}"] = levels(value)
    return found


def parse_number(text: str) -> float | None:
    """Return the number or quotient of numbers in a text; None if it is neither."""
    try:
        values = [float(part) if "." in part or "e" in part else int(part) for part in text.split("/")]
    except ValueError:
        return None
    return values[0] if len(values) == 1 else values[0] / values[1]


def levels(value: float) -> tuple[float, float]:
    """Return half and twice a number; for a share of at least a half, the higher value is halfway to one."""
    if isinstance(value, int):
        return max(1, value // 2), 2 * value
    return value / 2, (1 + value) / 2 if 0.5 <= value < 1 else 2 * value


def run(kind: str, n: int) -> Row:
    """Do the nth run of a kind; which of its constants are high is a function of n."""
    rng, known = random.Random(f"{kind} {n}"), factors(kind)  # noqa: S311 - a design, no secret
    high = sorted(name for name in known if rng.random() < 0.5)
    values = {name: pair[name in high] for name, pair in known.items()}
    changed = [sys.executable, "-m", "promptpo_benchmarks.worth.changed", json.dumps(values)]
    row: Row = {"kind": kind, "run": n, "high": high}
    if kind == "search":
        chosen = [case for case in cases() if case.kind == "search"]
        judged: Judged = {}
        found = measure(chosen[n % len(chosen)], [*changed, "promptpo"], (), judged)
        return row | {"task": found["task"], "score": scores(found)[-1]}
    name = list(STRUCTURES)[n % len(STRUCTURES)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.jsonl"
        words = ["promptpo_benchmarks.tuning.paired", "--out", str(out), "--envs", name, "--seeds", "1"]
        words += ["--steps", str(TUNED_STEPS), "--first-seed", str(700 + n)]
        subprocess.run([*changed, *words], check=True, capture_output=True)
        found = json.loads(out.read_text(encoding="utf-8"))
    task = STRUCTURES[name][0]
    anchors = load_anchors()[f"{task.env_id}-continuous" if task.env_kwargs else task.env_id]
    return row | {"task": name, "score": anchors.normalize(found["after"])}


def effects(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Return each constant's effect, high minus low, and half the width of its 95 % interval; scores are relative to their task's mean."""
    of_task = defaultdict[str, list[float]](list)
    for row in rows:
        of_task[row["task"]].append(row["score"])
    found = {}
    for name in sorted({name for row in rows for name in row["high"]}):
        sides: tuple[list[float], list[float]] = ([], [])
        for row in rows:
            sides[name in row["high"]].append(row["score"] - statistics.fmean(of_task[row["task"]]))
        low, high = sides
        error = math.sqrt(sum(statistics.variance(side) / len(side) for side in sides if len(side) > 1))
        found[name] = (statistics.fmean(high) - statistics.fmean(low or [0.0]), 1.96 * error)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Add runs, or print the effects."""
    parser = argparse.ArgumentParser(
        prog="python -m promptpo_benchmarks.worth.screening", description=__doc__
    )
    parser.add_argument("--runs", type=int, default=0, help="number of runs to add of each kind")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rows", type=Path, default=ROWS)
    options = parser.parse_args(arguments)
    text = options.rows.read_text(encoding="utf-8") if options.rows.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    begun = {kind: sum(row["kind"] == kind for row in rows) for kind in options.kinds}
    for n in range(options.runs):
        for kind in options.kinds:
            try:
                row = run(kind, begun[kind] + n)
            except subprocess.SubprocessError as error:
                row = {"kind": kind, "run": begun[kind] + n, "high": [], "failed": str(error)[-200:]}
            rows.append(row)
            with options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    for kind in options.kinds:
        mine = [row for row in rows if row["kind"] == kind and "score" in row]
        print(f"{kind}: {len(mine)} runs; score at the high value less that at the low one")
        for name, (effect, width) in sorted(effects(mine).items(), key=lambda item: -abs(item[1][0])):
            print(f"  {effect:+.3f} ± {width:.3f}  {name.removeprefix('promptpo.')}")


if __name__ == "__main__":
    main()
