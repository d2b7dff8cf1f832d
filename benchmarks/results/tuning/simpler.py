"""Two versions of the tuner on made-up returns: `python benchmarks/results/tuning/simpler.py LABEL SEEDS` prints a row for each tuning.

Run it with the interpreter of each version's checkout. `value` is the share of the way from the numbers as written to the best (of a race: the
true return of the winner's numbers), `steps` the share of the steps that were taken.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from made_up import LENGTH, POLICY, Task

from promptpo.features.tuning.batches import Start
from promptpo.features.tuning.outcome import TuningResult
from promptpo.features.tuning.tuning import Tuning
from promptpo.program import Program
from promptpo_sandbox import Rollout


def tune(tasks: Sequence[Task], episodes: int, seed: int, **how: Any) -> tuple[TuningResult, ...]:
    """Tune programs, one for each task; tasks have different numbers of parameters."""
    starts = []
    for n, task in enumerate(tasks, 1):
        entries = ", ".join(f'"p{i}": (0.5, 0.0, 1.0)' for i in range(task.size))
        starts.append(Start(f"r1c{n}", Program.from_source(POLICY.format(entries))))
    first, by_size = 10_000_000 * seed, {task.size: task for task in tasks}
    tuning = Tuning(
        starts, steps=episodes * LENGTH, seeds=lambda s, n: tuple(range(first + s, first + s + n)), horizon=LENGTH, seed=seed, **how
    )  # fmt: skip
    while tuning.batches:
        rollouts = []
        for batch in tuning.batches:
            task = by_size[len(batch.program.params)]
            rollouts.append(Rollout(tuple(map(task.play, batch.trials)), None, 0, "", 0.0))
        tuning.step(rollouts)
    return tuning.result()


def rows(seed: int) -> Iterator[tuple[str, float, float]]:
    """Settings with their values and steps."""
    cases = [
        (f"{kind}, {size} numbers, {episodes} episodes", Task(seed, kind, size, noise), episodes, {})
        for kind in ("smooth", "rugged", "two hills")
        for size, episodes, noise in ((4, 100, 0.05), (4, 500, 0.05), (10, 100, 0.05), (10, 500, 0.2))
    ]
    cases += [
        (f"{kind}, 4 numbers, 2000 episodes, thorough", Task(seed, kind, 4, 0.05), 2000, {"thorough": True})
        for kind in ("smooth", "rugged", "two hills")
    ]
    target = Task(seed, "smooth", 4, 0.05)
    reached = {"target": 0.1 * target.true(np.full(4, 0.5))}
    cases.append(("a target at 90 %, 1000 episodes", target, 1000, reached))
    for name, task, episodes, how in cases:
        (found,) = tune([task], episodes, seed, **how)
        values = [found.program.values[f"p{i}"] for i in range(task.size)]
        yield name, task.gain(values), found.steps / episodes / LENGTH
    tasks = [Task(seed, "smooth", size, 0.05) for size in (4, 5, 6)]
    results = tune(tasks, 400, seed)
    won = next(i for i, found in enumerate(results) if found.outcome != "given up")
    values = np.array([results[won].program.values[f"p{i}"] for i in range(tasks[won].size)])
    yield (
        "a race of three, 400 episodes",
        tasks[won].true(values),
        sum(found.steps for found in results) / 400 / LENGTH,
    )


if __name__ == "__main__":
    label, seeds = sys.argv[1], int(sys.argv[2])
    for seed in range(100, 100 + seeds):
        for setting, value, steps in rows(seed):
            row = {
                "label": label,
                "setting": setting,
                "seed": seed,
                "value": round(float(value), 4),
                "steps": round(steps, 3),
            }
            print(json.dumps(row), flush=True)
