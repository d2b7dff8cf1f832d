"""How far tuning takes programs: `python benchmarks/results/tuning/study [--nightly] [--json]`.

For each environment and step budget: the mean return of 20 held-out test episodes after program search
without a model ("search"), after tuning structures that a language model wrote ("model", the recorded
answers in tests/recordings), after tuning structures written by hand for this benchmark ("hand",
benchmarks/structures, where there are any), after tuning what a large model answered in one round of a recorded run
("round1" to "round4", benchmarks/results/model-in-the-loop), and of PPO and TRPO at the same steps. Every step but those of
the test counts. Rows are kept in ``--out``, and rows that are there are not measured again, so that a long
table can be interrupted and extended.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

from baselines import train_baseline
from rows import Measurement, RowStore, as_text
from run import ROUNDS_IN_THE_LOOP, TEST_EPISODES, measure, supplied
from promptpo.envs.task import Task

if TYPE_CHECKING:
    from promptpo_baselines.algorithms import Algorithm

ENVS: dict[str, Task] = {
    "HalfCheetah": Task("HalfCheetah-v5"),
    "Hopper": Task("Hopper-v5"),
    "Walker2d": Task("Walker2d-v5"),
    "Swimmer": Task("Swimmer-v5"),
    "Ant": Task("Ant-v5"),
    "Reacher": Task("Reacher-v5"),
    "InvertedDoublePendulum": Task("InvertedDoublePendulum-v5"),
    "Pendulum": Task("Pendulum-v1"),
    "MountainCarContinuous": Task("MountainCarContinuous-v0"),
    "LunarLanderContinuous": Task("LunarLander-v3", {"continuous": True}),
    "BipedalWalker": Task("BipedalWalker-v3"),
    "CartPole": Task("CartPole-v1"),
    "Acrobot": Task("Acrobot-v1"),
    "FrozenLake": Task("FrozenLake-v1"),
}
SMALL, LARGE = 131_072, 1_000_000
QUICK = ("HalfCheetah", "Swimmer", "Hopper", "Pendulum", "MountainCarContinuous")
TUNED = ("search", "model", "hand")
BASELINES = ("ppo", "trpo")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not there yet, and print."""
    options = _options(arguments)
    store = RowStore(options.out)
    rows: list[Measurement] = []
    for name in options.envs:
        for budget in options.steps:
            rows += _rows(ENVS[name], budget, options, store)
    store.write_tables(f"python benchmarks/results/tuning/study {shlex.join(arguments or sys.argv[1:])}".strip())
    print(json.dumps([asdict(row) for row in rows], indent=1) if options.json else as_text(rows))


def _rows(task: Task, budget: int, options: argparse.Namespace, store: RowStore) -> list[Measurement]:
    """The rows of one environment and budget, measured where they are missing."""
    rows = []
    for method in options.methods:
        if method not in {"search", *BASELINES} and not supplied(task, method):
            continue
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            row = store.find(task.name, method, budget, seed)
            if row is None:
                if method in BASELINES:
                    row = train_baseline(task, cast("Algorithm", method), budget, seed, TEST_EPISODES)
                else:
                    row = measure(task, method, budget, seed, options.jobs)
                store.add(row)
                if not options.json:
                    _print_progress(row)
            rows.append(row)
    return rows


def _print_progress(row: Measurement) -> None:
    print(
        f"{row.env} {row.budget:,} {row.method} seed {row.seed}: {row.after:.1f} "
        f"({row.winner}, {row.steps:,} steps, {row.seconds:.0f} s)",
        flush=True,
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print every measurement as JSON")
    parser.add_argument("--envs", nargs="+", choices=[*ENVS], help=f"default: {', '.join(QUICK)}")
    parser.add_argument("--steps", nargs="+", type=int, help=f"budgets; default: {SMALL:,}")
    parser.add_argument("--seeds", type=int, default=3, help="seeds per row (default 3)")
    parser.add_argument(
        "--first-seed", type=int, default=0, help="for runs on seeds that development has not seen"
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=[*TUNED, *ROUNDS_IN_THE_LOOP, *BASELINES],
        help=f"default: {', '.join(TUNED)}",
    )
    parser.add_argument("--jobs", type=int, default=0, help="worker processes (default: one per core)")
    parser.add_argument("--out", type=Path, default=Path("runs/tuning"), help="where rows are kept")
    parser.add_argument(
        "--nightly",
        action="store_true",
        help=f"all environments and methods, {SMALL:,} and {LARGE:,} steps",
    )
    options = parser.parse_args(arguments)
    options.envs = options.envs or list(ENVS if options.nightly else QUICK)
    options.steps = options.steps or ([SMALL, LARGE] if options.nightly else [SMALL])
    options.methods = options.methods or [*TUNED, *(BASELINES if options.nightly else ())]
    return options


if __name__ == "__main__":
    main()
