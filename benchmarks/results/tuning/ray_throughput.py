"""The cost of Ray: `python benchmarks/results/tuning/ray_throughput.py [--json]`.

Environment steps per wall second of two Ray workers over two local workers, on the same jobs: generations
as tuning asks for them. The median of interleaved pairs, since machines are noisy; the first generation of
each executor, which starts its processes, is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from promptpo.envs.task import Task
from promptpo.rollouts import Job, Settings, make_executor
from promptpo_sandbox import Limits, Trial

if TYPE_CHECKING:
    from promptpo.rollouts import Executor

WORKERS = 2
LANES = 8

GAIT = """
import numpy as np

PARAMS = {"frequency": (0.1, 0.02, 0.3), "amplitude": (0.5, 0.0, 1.5)}


class Policy:
    def __init__(self, params):
        self.params = params
        self.phase = 0.0
        self.shifts = np.array([0.0, 1.1, 2.2, 3.1, 4.2, 5.3])

    def act(self, obs):
        self.phase += 2.0 * np.pi * self.params["frequency"]
        return np.clip(self.params["amplitude"] * np.sin(self.phase + self.shifts) - 0.2 * obs[2:8], -1.0, 1.0)
"""


@dataclass(frozen=True, slots=True)
class Throughput:
    """The result.

    Attributes:
        env: The environment.
        workers: Of each executor.
        horizon: Steps per episode.
        episodes: In one generation.
        pairs: Generations timed on each executor.
        local: Median steps per second on local workers.
        ray: The same on Ray workers.
        ratio: Median over pairs of Ray's speed over the local one.
    """

    env: str
    workers: int
    horizon: int
    episodes: int
    pairs: int
    local: float
    ray: float
    ratio: float


async def measure(pairs: int, horizon: int, episodes: int) -> Throughput:
    """Time the same generations on both executors in turn.

    Args:
        pairs: How often.
        horizon: Steps per episode.
        episodes: In a generation; cut into jobs of eight, as tuning does.
    """
    settings = Settings(Task("HalfCheetah-v5"), Limits())
    executors = {kind: make_executor(kind, settings, WORKERS) for kind in ("local", "ray")}
    try:
        speeds: dict[str, list[float]] = {kind: [] for kind in executors}
        for generation in range(pairs + 1):
            order = list(executors) if generation % 2 else list(executors)[::-1]
            for kind in order:
                speeds[kind].append(await _speed(executors[kind], generation, horizon, episodes))
    finally:
        for executor in executors.values():
            executor.close()
    local, ray = speeds["local"][1:], speeds["ray"][1:]
    return Throughput(
        env=settings.task.name,
        workers=WORKERS,
        horizon=horizon,
        episodes=episodes,
        pairs=pairs,
        local=round(statistics.median(local), 1),
        ray=round(statistics.median(ray), 1),
        ratio=round(statistics.median(r / s for r, s in zip(ray, local, strict=True)), 3),
    )


async def _speed(executor: Executor, generation: int, horizon: int, episodes: int) -> float:
    """Steps per second of one generation."""
    trials = [
        Trial(generation, {"frequency": 0.05 + 0.2 * i / episodes, "amplitude": 0.5}, horizon)
        for i in range(episodes)
    ]
    jobs = [Job(GAIT, tuple(trials[i : i + LANES]), stop_on_failure=False) for i in range(0, episodes, LANES)]
    started = time.monotonic()
    rollouts = await asyncio.gather(*map(executor.run, jobs))
    seconds = time.monotonic() - started
    steps = sum(rollout.steps for rollout in rollouts)
    if steps != horizon * episodes:
        raise RuntimeError(
            f"a generation took {steps} steps, not {horizon * episodes}: {rollouts[0].failure}"
        )
    return steps / seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--pairs", type=int, default=10, help="generations timed on each (default 10)")
    parser.add_argument("--horizon", type=int, default=200, help="steps per episode (default 200)")
    parser.add_argument("--episodes", type=int, default=32, help="in one generation (default 32)")
    options = parser.parse_args()
    result = asyncio.run(measure(options.pairs, options.horizon, options.episodes))
    if options.json:
        machine = {
            "ray_version": version("ray"),
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 2),
        }
        print(json.dumps({**asdict(result), **machine}, indent=1))
    else:
        print(f"local {result.local:,.0f} steps/s   ray {result.ray:,.0f} steps/s   ratio {result.ratio:.3f}")


if __name__ == "__main__":
    main()
