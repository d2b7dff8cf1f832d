"""How many environment steps a policy of a given quality costs, with a world model and without one.

`python -m benchmarks.world_models steps [--seeds 3] [--steps 100000] [--csv FILE] [ENV=TARGET ...]` runs program search, that
is, no language model, under the default recipe and under `--recipe model`. A row says after how many steps, all
purposes but the final test counted, the first candidate came whose mean return over its training episodes
reached the target, and what the run's best earned on held-out episodes.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from promptpo.api import optimize
from promptpo.run.config import Budget
from promptpo.run.journal import JOURNAL, read_events
from promptpo.run.ledger import Ledger

TARGETS = {
    "CartPole-v1": 475.0,
    "Pendulum-v1": -220.0,
    "MountainCar-v0": -120.0,
    "Acrobot-v1": -100.0,
}
"""The threshold that an environment registers, or what program search comes near to."""

RECIPES: tuple[Literal["default", "model"], ...] = ("default", "model")


@dataclass(frozen=True)
class WorldRow:
    """One run.

    Attributes:
        env: The environment.
        recipe: Of the run.
        seed: Of the run.
        steps: Until the target was reached; None where it was not.
        searched: Steps of the whole search.
        test: Held-out mean return.
    """

    env: str
    recipe: str
    seed: int
    steps: int | None
    searched: int
    test: float


def measure(
    env_id: str, target: float, recipe: Literal["default", "model"], seed: int, most: int
) -> WorldRow:
    """One run of program search."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        result = optimize(env_id, model="search", recipe=recipe, seed=seed, max_steps=most, rounds=1, out=out)
        ledger, reached = Ledger(Budget()), None
        for event in read_events(out / JOURNAL):
            ledger.add(event)
            if event.kind == "attempt" and reached is None:
                returns = [episode["return_"] for episode in event.data["evaluation"]["episodes"]]
                if returns and statistics.fmean(returns) >= target:
                    reached = ledger.searched_steps
    return WorldRow(env_id, recipe, seed, reached, ledger.searched_steps, round(result.mean_return, 2))


def table(rows: Sequence[WorldRow]) -> Iterator[str]:
    """Markdown: a line for each environment and recipe."""
    yield "| environment | recipe | reached the target | steps until then, by seed | held-out mean return, by seed |"
    yield "|---|---|---|---|---|"
    for env, recipe in dict.fromkeys((row.env, row.recipe) for row in rows):
        mine = [row for row in rows if (row.env, row.recipe) == (env, recipe)]
        steps = ", ".join("-" if row.steps is None else f"{row.steps:,}" for row in mine)
        reached = sum(row.steps is not None for row in mine)
        tests = ", ".join(f"{row.test:g}" for row in mine)
        yield f"| {env} | {recipe} | {reached} of {len(mine)} | {steps} | {tests} |"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be asked for."""
    parser.add_argument(
        "targets", nargs="*", metavar="ENV=TARGET", help="default: the four classic control tasks"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100_000, help="budget of each run")
    parser.add_argument("--csv", type=Path)


def run(given: argparse.Namespace) -> None:
    """Run and print."""
    targets = dict(text.rsplit("=", 1) for text in given.targets) or TARGETS
    rows = []
    for env, target in targets.items():
        for recipe in RECIPES:
            for seed in range(1, given.seeds + 1):
                rows.append(measure(env, float(target), recipe, seed, given.steps))
                print(rows[-1], file=sys.stderr, flush=True)
                if given.csv is not None:
                    with given.csv.open("w", newline="", encoding="utf-8") as file:
                        writer = csv.DictWriter(file, [field.name for field in fields(WorldRow)])
                        writer.writeheader()
                        writer.writerows(asdict(row) for row in rows)
    print("\n".join(table(rows)))
