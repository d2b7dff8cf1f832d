"""The tuner on made-up returns: should the last tuning spend all steps, and should few steps tune fewer numbers?

`python benchmarks/results/tuning/made_up.py last|fewer [SEEDS]` prints a row for each setting: the share of the way from the numbers as
written to the best that tuning goes, its standard error over seeds, and the share of the steps that it took.

    last     4 numbers, 2,000 episodes: it ends after two looks without a gain, or with the steps
    fewer    12 numbers, 4 of which matter: all are tuned, those 4, 4 at random, or, for the second half of the steps, all or those that moved the return

Episodes have 20 steps; a return is that of the numbers, how easy the start is, and luck half as large. Nothing is run, so sources are read
in this process.
"""

import json
import sys

import numpy as np

import promptpo.program.program as programs
from promptpo.features.tuning.batches import Start
from promptpo.features.tuning.tuning import Tuning
from promptpo.program import Program
from promptpo.program.confined import reading
from promptpo_sandbox import Episode, Rollout

programs.read = lambda function, *arguments: getattr(reading, function)(*arguments)
LENGTH = 20
POLICY = "PARAMS = {{{}}}\n\nclass Policy:\n    def __init__(self, params): ...\n    def act(self, obs): return 0\n"


class Task:
    """Returns of numbers between 0 and 1."""

    def __init__(self, seed, kind, size, noise):
        rng = np.random.default_rng([seed, size])
        self.kind, self.size, self.noise = kind, size, noise
        self.best, self.other = rng.uniform(0.1, 0.9, (2, size))
        weights = np.where(rng.permutation(size) < 4, 1.0, 0.03) if kind == "few matter" else 10.0 ** rng.uniform(-1, 0, size)
        self.weights = weights / weights.sum()

    def true(self, x):
        away = x - self.best
        value = -4 * float((self.weights * away**2).sum())
        if self.kind == "rugged":
            value -= 0.15 * float((self.weights * (1 - np.cos(12 * np.pi * away))).sum())
        if self.kind == "two hills":
            value = max(6 * value, -0.35 - 0.5 * float((self.weights * (x - self.other) ** 2).sum()))
        return value

    def play(self, trial):
        x = np.array([trial.params[f"p{i}"] for i in range(self.size)])
        ease = np.random.default_rng(trial.seed).normal()
        luck = np.random.default_rng([trial.seed, *(x * 1e6).astype(int)]).normal() / 2
        return_ = (self.true(x) + self.noise * (ease + luck)) * trial.horizon / LENGTH
        return Episode(trial.seed, return_, trial.horizon, False, True, None, 0, 0.0)

    def gain(self, values):
        return 1 - self.true(np.array(values)) / self.true(np.full(self.size, 0.5))

    def tune(self, begin, free, steps, seed, **how):
        """Numbers after tuning, which of them moved the return, and the steps taken."""
        entries = (f'"p{i}": ({v!r}, {0.0 if i in free else v!r}, {1.0 if i in free else v!r})' for i, v in enumerate(begin))
        start = Start("r1c1", Program.from_source(POLICY.format(", ".join(entries))))
        first = 10_000_000 * seed
        tuning = Tuning([start], steps=steps, seeds=lambda s, n: tuple(range(first + s, first + s + n)), horizon=LENGTH, seed=seed, **how)
        while tuning.batches:
            tuning.step([Rollout(tuple(map(self.play, batch.trials)), None, 0, "", 0.0) for batch in tuning.batches])
        (found,) = tuning.result()
        moved = {int(name[1:]) for name, known in found.sensitivity.items() if known.share > 0}
        return [found.program.values[f"p{i}"] for i in range(self.size)], moved, found.steps


def last(seed):
    for kind in ("smooth", "rugged", "two hills"):
        task = Task(seed, kind, 4, 0.05)
        for thorough in (False, True):
            values, _, steps = task.tune([0.5] * 4, range(4), 40_000, seed, thorough=thorough)
            yield f"{kind}, {'all steps' if thorough else 'two looks'}", task.gain(values), steps / 40_000


def fewer(seed):
    task, begin = Task(seed, "few matter", 12, 0.02), [0.5] * 12
    matter = {int(i) for i in np.argsort(-task.weights)[:4]}
    some = {int(i) for i in np.random.default_rng(seed + 99).permutation(12)[:4]}
    for episodes in (30, 75, 150):
        steps = episodes * LENGTH
        for name, free in (("all", range(12)), ("those that matter", matter), ("four at random", some)):
            values, _, taken = task.tune(begin, free, steps, seed)
            yield f"{episodes} episodes, {name}", task.gain(values), taken / steps
        half, moved, _ = task.tune(begin, range(12), steps // 2, seed)
        for name, free in (("all", range(12)), ("those that moved", moved or range(12))):
            values, _, taken = task.tune(half, free, steps // 2, seed + 500)
            yield f"{episodes} episodes in two parts, then {name}", task.gain(values), taken / steps


if __name__ == "__main__":
    found = {}
    for seed in range(int(sys.argv[2]) if sys.argv[2:] else 16):
        for name, gain, share in {"last": last, "fewer": fewer}[sys.argv[1]](seed):
            found.setdefault(name, []).append((gain, share))
    for name, pairs in found.items():
        gains, shares = np.array(pairs).T
        print(json.dumps({"setting": name, "gain": round(gains.mean(), 3), "error": round(gains.std(ddof=1) / len(gains) ** 0.5, 3), "steps": round(shares.mean(), 2)}))
