"""Which search finds weighted sums for LunarLander? `python benchmarks/results/keyless/lunar_lander.py`

Outside promptpo: the action with the largest of four weighted sums (36 numbers), observations from their mean in standard
deviations, by their bounds or by the range seen in 1,500 random steps; CMA-ES with its usual population or a larger one, and augmented random
search (8 directions, the best 4). Appends a row for each way and seed to `lunar_lander.jsonl`: the mean return over 20 fresh
episodes of the middle of the search after 50,000 or 65,536 steps. The zero action returns -127.
"""

import json
from pathlib import Path

import cma
import gymnasium
import numpy as np

ROWS = Path(__file__).with_name("lunar_lander.jsonl")
OUTPUTS, INPUTS, SPAN = 4, 8, 1.0
FRESH = range(20_000_000, 20_000_020)


class Task:
    """Episodes of a linear policy, counted in steps."""

    def __init__(self, scale, seed):
        self.env, self.steps = gymnasium.make("LunarLander-v3"), 0
        self.env.action_space.seed(seed)
        seen = [self.env.reset(seed=seed)[0]]
        for _ in range(1500):
            observation, _, terminated, truncated, _ = self.env.step(self.env.action_space.sample())
            seen.append(observation)
            if terminated or truncated:
                seen.append(self.env.reset()[0])
        seen, space = np.array(seen), self.env.observation_space
        bounds = (space.high - space.low) / 2
        self.middle, self.half = {
            "deviations": (seen.mean(0), np.maximum(seen.std(0), 0.1 * bounds)),
            "bounds": ((space.high + space.low) / 2, bounds),
            "range": ((seen.max(0) + seen.min(0)) / 2, np.maximum(np.ptp(seen, 0) / 2, 0.1 * bounds)),
        }[scale]

    def play(self, weights, seed):
        table, total = np.reshape(weights, (OUTPUTS, INPUTS + 1)), 0.0
        observation, _ = self.env.reset(seed=int(seed))
        while True:
            scores = table[:, 1:] @ ((observation - self.middle) / self.half) + table[:, 0]
            observation, reward, terminated, truncated, _ = self.env.step(int(scores.argmax()))
            total, self.steps = total + reward, self.steps + 1
            if terminated or truncated:
                return total


def by_cma(task, seed, steps, population, episodes):
    options = {"seed": seed + 1, "verbose": -9, "bounds": [-SPAN, SPAN]}
    if population:
        options["popsize"] = population
    search, n = cma.CMAEvolutionStrategy(np.zeros(OUTPUTS * (INPUTS + 1)), 0.6 * SPAN, options), 0
    while task.steps < steps:
        asked, starts = search.ask(), range(10_000 + episodes * n, 10_000 + episodes * (n + 1))
        search.tell(asked, [-np.mean([task.play(weights, s) for s in starts]) for weights in asked])
        n += 1
    return search.mean


def by_directions(task, seed, steps, count=8, best=4, width=0.1):
    rng, weights, n = np.random.default_rng(seed), np.zeros(OUTPUTS * (INPUTS + 1)), 0
    while task.steps < steps:
        ways = rng.standard_normal((count, len(weights)))
        found = np.array(
            [
                [task.play(weights + sign * width * way, 10_000 + n + 1000 * j) for sign in (1, -1)]
                for j, way in enumerate(ways)
            ]
        )
        top = np.argsort(-found.max(1))[:best]
        gains = (found[top, 0] - found[top, 1])[:, None] * ways[top]
        weights = weights + width / (best * (found[top].std() + 1e-9)) * gains.sum(0)
        n += 1
    return weights


WAYS = [
    *((scale, "cma", None, 2, 65_536, (1, 2, 3)) for scale in ("deviations", "bounds", "range")),
    *((scale, "directions", None, 1, 65_536, (1, 2, 3)) for scale in ("deviations", "bounds", "range")),
    ("deviations", "cma", None, 1, 50_000, range(10, 18)),
    ("deviations", "cma", 36, 1, 50_000, range(10, 18)),
    ("deviations", "directions", None, 1, 50_000, range(10, 18)),
]

if __name__ == "__main__":
    with ROWS.open("a", encoding="utf-8") as rows:
        for scale, search, population, episodes, steps, seeds in WAYS:
            for seed in seeds:
                task = Task(scale, seed)
                found = (
                    by_cma(task, seed, steps, population, episodes)
                    if search == "cma"
                    else by_directions(task, seed, steps)
                )
                row = {"scale": scale, "search": search, "population": population, "episodes": episodes, "steps": steps, "seed": seed}
                row["return"] = round(float(np.mean([task.play(found, s) for s in FRESH])), 1)
                print(row, flush=True)
                rows.write(json.dumps(row) + "\n")
