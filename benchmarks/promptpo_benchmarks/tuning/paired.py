"""The tuner alone, on recorded structures: `python -m promptpo_benchmarks.tuning.paired --label NAME --out FILE`.

Two versions of the tuner are compared by running this with both, over the same seeds; `--report` prints them side by
side. Only the tuner spends steps, and no time limit stops it, so a busy machine changes no figure. Rows that are in
the file are not measured again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.core.candidate import Seeds
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.features.tuning.batches import Start
from promptpo.features.tuning.tuning import Tuning
from promptpo.program import Program
from promptpo.program.answers import extract_program
from promptpo_benchmarks.measuring.commands import run_command
from promptpo_benchmarks.tuning.plain import tune
from promptpo_sandbox import Sandbox, Trial

if TYPE_CHECKING:
    import gymnasium

    from promptpo_sandbox import Rollout

ROOT = Path(__file__).parents[3]
STRUCTURES = {
    "HalfCheetah": (Task("HalfCheetah-v5"), "benchmarks/results/tuning/structures/HalfCheetah-v5/clock.py"),
    "Hopper": (Task("Hopper-v5"), "tests/recordings/Hopper-v5/2.md"),
    "Walker2d": (Task("Walker2d-v5"), "tests/recordings/Walker2d-v5/1.md"),
    "Swimmer": (Task("Swimmer-v5"), "tests/recordings/Swimmer-v5/2.md"),
    "Ant": (Task("Ant-v5"), "tests/recordings/Ant-v5/1.md"),
    "Reacher": (Task("Reacher-v5"), "tests/recordings/Reacher-v5/1.md"),
    "LunarLander": (Task("LunarLander-v3"), "tests/recordings/LunarLander-v3/1.md"),
    "BipedalWalker": (Task("BipedalWalker-v3"), "tests/recordings/BipedalWalker-v3/2.md"),
    "LunarLanderContinuous": (
        Task("LunarLander-v3", {"continuous": True}),
        "tests/recordings/LunarLander-v3-continuous/2.md",
    ),
}
"""Each environment with the recorded structure that is tuned: a language model's answer, or one written by hand."""

LANES, TEST_EPISODES = 8, 10


def measure(name: str, budget: int, seed: int, *, plain: bool = False) -> dict[str, Any]:
    """Tune one structure, with our tuner or the plain one, and test it on held-out seeds."""
    task, program = STRUCTURES[name][0], structure(name)
    envs = [make_env(task) for _ in range(LANES)]
    seeds = Seeds(seed)
    began = time.process_time()
    with Sandbox() as box:
        _, steps = _play(box, envs, program, seeds.train(5))
        spend = _plain if plain else _ours
        found, spent = spend(box, envs, Start("r1c1", program), budget - steps, seeds, seed)
        steps += spent
        test = seeds.test(TEST_EPISODES)
        untuned, _ = _play(box, envs, program, test)
        after, _ = _play(box, envs, found, test)
    for env in envs:
        env.close()
    return {
        "env": name, "budget": budget, "seed": seed, "untuned": untuned, "after": after, "steps": steps,
        "cpu_seconds": round(time.process_time() - began, 1),
    }  # fmt: skip


def _horizon(env: gymnasium.Env[Any, Any]) -> int:
    return (env.spec.max_episode_steps if env.spec else None) or 1000


def _ours(
    box: Sandbox, envs: Sequence[gymnasium.Env[Any, Any]], start: Start, steps: int, seeds: Seeds, seed: int
) -> tuple[Program, int]:
    spent = 0
    tuning = Tuning(
        [start],
        steps=steps,
        seeds=lambda first, n: seeds.train(n, start=first),
        horizon=_horizon(envs[0]),
        seed=seed,
    )
    while tuning.batches:
        rollouts = [
            box.rollout(b.source, envs, b.trials, clip_actions=True, stop_on_failure=False)
            for b in tuning.batches
        ]
        spent += sum(rollout.steps for rollout in rollouts)
        tuning.step(rollouts)
    return tuning.result()[0].program, spent


def _plain(
    box: Sandbox, envs: Sequence[gymnasium.Env[Any, Any]], start: Start, steps: int, seeds: Seeds, seed: int
) -> tuple[Program, int]:
    spent = 0

    def roll(trials: Sequence[Trial]) -> Rollout:
        nonlocal spent
        rollout = box.rollout(start.program.source, envs, trials, clip_actions=True, stop_on_failure=False)
        spent += rollout.steps
        return rollout

    rng = np.random.default_rng(seed)
    found = tune(
        start.program,
        roll,
        lambda first, n: seeds.train(n, start=first),
        _horizon(envs[0]),
        steps,
        rng,
    )
    return found, spent


def override_constant(text: str) -> None:
    """Give a constant of the tuner another value, from text like `numbers.SHORT=1`, to measure its effect.

    Raises:
        UsageError: There is no such constant.
    """
    place, _, value = text.partition("=")
    module, _, path = place.partition(".")
    *owners, name = path.split(".")
    try:
        owner: Any = importlib.import_module(f"promptpo.features.tuning.{module}")
        for part in owners:
            owner = getattr(owner, part)
        getattr(owner, name)
        setattr(owner, name, json.loads(value))
    except (ImportError, AttributeError, ValueError):
        raise UsageError(
            f"The tuner has no constant {text!r}; write MODULE.NAME=VALUE, as numbers.SHORT=1."
        ) from None


def structure(name: str) -> Program:
    """Return the program that is tuned on an environment, with the numbers it was written with."""
    text = (ROOT / STRUCTURES[name][1]).read_text(encoding="utf-8")
    return Program.from_source(text if STRUCTURES[name][1].endswith(".py") else extract_program(text).source)


def _play(
    box: Sandbox, envs: Sequence[gymnasium.Env[Any, Any]], program: Program, seeds: Sequence[int]
) -> tuple[float, int]:
    rollout = box.rollout(
        program.source,
        envs,
        [Trial(seed, program.values) for seed in seeds],
        clip_actions=True,
        stop_on_failure=False,
    )
    return statistics.fmean(episode.return_ for episode in rollout.episodes), rollout.steps


def report(rows: Sequence[dict[str, Any]], budget: int) -> str:
    """Return a table: per environment mean and seeds of each label, then normalised mean and tenth percentile.

    Returns are normalised from 0, that of the numbers as written, to 1, the best mean of any label; only seeds that
    all labels have are compared.
    """
    rows = [row for row in rows if row["budget"] == budget]
    labels = list(dict.fromkeys(row["label"] for row in rows))
    found = {(row["label"], row["env"], row["seed"]): row for row in rows}
    lines = [f"| {budget:,} steps | untuned | {' | '.join(labels)} |", "|---|---|" + "---|" * len(labels)]
    scores: dict[str, list[float]] = {label: [] for label in labels}
    tails: dict[str, list[float]] = {label: [] for label in labels}
    for env in dict.fromkeys(row["env"] for row in rows):
        seeds = sorted({row["seed"] for row in rows if row["env"] == env})
        shared = [seed for seed in seeds if all((label, env, seed) in found for label in labels)]
        if not shared:
            continue
        floor = found[labels[0], env, shared[0]]["untuned"]
        got = {label: [found[label, env, seed]["after"] for seed in shared] for label in labels}
        top = max(statistics.fmean(values) for values in got.values())
        cells = [f"{statistics.fmean(v):,.4g} ({', '.join(f'{x:,.4g}' for x in v)})" for v in got.values()]
        lines.append(f"| {env} | {floor:,.4g} | {' | '.join(cells)} |")
        for label, values in got.items():
            scaled = [(value - floor) / ((top - floor) or 1.0) for value in values]
            scores[label].append(statistics.fmean(scaled))
            tails[label].append(float(np.percentile(scaled, 10)))
    means = (f"{statistics.fmean(scores[label]):.3f}" for label in labels)
    tenths = (f"{statistics.fmean(tails[label]):.3f}" for label in labels)
    return "\n".join(
        [
            *lines,
            f"| normalised mean | | {' | '.join(means)} |",
            f"| tenth percentile over seeds | | {' | '.join(tenths)} |",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure missing rows, or print the table."""
    parser = argparse.ArgumentParser(prog="python -m promptpo_benchmarks.tuning.paired", description=__doc__)
    parser.add_argument("--label", default="today", help="name of this version of the tuner")
    parser.add_argument("--out", type=Path, default=Path("runs/paired.jsonl"), help="rows")
    parser.add_argument("--envs", nargs="*", choices=STRUCTURES, default=list(STRUCTURES))
    parser.add_argument("--steps", nargs="*", type=int, default=[131_072])
    parser.add_argument("--first-seed", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--plain", action="store_true", help="measure the plain tuner of plain.py instead of ours"
    )
    parser.add_argument(
        "--set", nargs="*", default=[], metavar="MODULE.NAME=VALUE", help="constants of the tuner"
    )
    parser.add_argument("--report", action="store_true", help="measure nothing, print existing rows")
    options = parser.parse_args(arguments)
    text = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    if options.report:
        print("\n\n".join(report(rows, budget) for budget in sorted({row["budget"] for row in rows})))
        return
    for setting in options.set:
        override_constant(setting)
    known = {(row["label"], row["env"], row["budget"], row["seed"]) for row in rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for budget in options.steps:
            for env in options.envs:
                if (options.label, env, budget, seed) not in known:
                    row = {"label": options.label, **measure(env, budget, seed, plain=options.plain)}
                    with options.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    sys.exit(run_command(main))
