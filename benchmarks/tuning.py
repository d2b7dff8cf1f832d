"""How far tuning takes programs: `python -m benchmarks.tuning [--json]`.

For each environment and step budget: the mean return of 20 held-out test episodes after program search
without a model ("search"), after tuning structures that a language model wrote ("model", the recorded
answers in tests/recordings), and after tuning structures written by hand for this benchmark ("hand",
benchmarks/structures, where there are any); steps and wall time. A row is the mean over seeds.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from dataclasses import asdict
from importlib.metadata import version
from itertools import groupby

from benchmarks.tuning_run import Bench, Measurement, supplied
from promptpo.records import Task

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
}
SMALL, LARGE = 131_072, 1_000_000
QUICK = ("HalfCheetah", "Swimmer", "Hopper", "Pendulum", "MountainCarContinuous")
LABELS = ("search", "model", "hand")


def main() -> None:
    """Measure and print."""
    options = _options()
    rows: list[Measurement] = []
    for name in options.envs:
        bench = Bench(ENVS[name], options.jobs)
        try:
            for budget in options.steps:
                for label in options.structures:
                    if label == "search" or supplied(ENVS[name], label):
                        for seed in range(options.seeds):
                            rows.append(bench.measure(label, budget, seed))
                            if not options.json:
                                _print_progress(rows[-1])
        finally:
            bench.close()
    if options.json:
        print(json.dumps({"versions": _versions(), "measurements": [asdict(row) for row in rows]}, indent=1))
    else:
        print(table(rows))


def table(rows: list[Measurement]) -> str:
    """Means over seeds, one line per environment, budget and kind of structure."""
    head = f"{'environment':<36} {'steps':>9}  {'structures':<10} {'before':>9} {'after':>9} {'seeds (after)':<28} {'s':>6}"
    lines = [head, "-" * len(head)]
    for (env, budget, label), group in groupby(rows, key=lambda row: (row.env, row.budget, row.structures)):
        some = list(group)
        after = statistics.fmean(row.after for row in some)
        each = ", ".join(f"{row.after:.0f}" for row in some)
        seconds = statistics.fmean(row.seconds for row in some)
        lines.append(
            f"{env:<36} {budget:>9,}  {label:<10} {some[0].before:>9.1f} {after:>9.1f} {each:<28} {seconds:>6.1f}"
        )
    return "\n".join(lines)


def _print_progress(row: Measurement) -> None:
    print(
        f"{row.env} {row.budget:,} {row.structures} seed {row.seed}: {row.after:.1f} "
        f"({row.winner}, {row.steps:,} steps, {row.seconds:.0f} s)",
        flush=True,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print every measurement as JSON")
    parser.add_argument("--envs", nargs="+", choices=[*ENVS], help=f"default: {', '.join(QUICK)}")
    parser.add_argument("--steps", nargs="+", type=int, help=f"budgets; default: {SMALL:,}")
    parser.add_argument("--seeds", type=int, default=3, help="seeds per row (default 3)")
    parser.add_argument("--structures", nargs="+", choices=LABELS, default=list(LABELS))
    parser.add_argument("--jobs", type=int, default=0, help="worker processes (default: one per core)")
    parser.add_argument(
        "--nightly", action="store_true", help=f"all environments, {SMALL:,} and {LARGE:,} steps"
    )
    options = parser.parse_args()
    options.envs = options.envs or list(ENVS if options.nightly else QUICK)
    options.steps = options.steps or ([SMALL, LARGE] if options.nightly else [SMALL])
    return options


def _versions() -> dict[str, str]:
    packages = ("gymnasium", "numpy", "cma", "mujoco")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


if __name__ == "__main__":
    main()
