"""One measurement of the tuning benchmark: structures, a step budget and a seed in, a test return out."""

from __future__ import annotations

import asyncio
import math
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring.cpu import cpu_seconds
from benchmarks.tuning.rows import Measurement, now, versions
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.llm.base import Message, Request, Situation, Tried
from promptpo.rollouts import Job, LocalExecutor, Settings, roll_out
from promptpo.run.records import Seeds
from promptpo.search.programs import SearchLLM
from promptpo.search.tuning import Start, Tuned, read_params, tune
from promptpo.search.tuning.split import FEW_EPISODES
from sandbox import Limits, Trial

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from sandbox import Rollout

ROOT = Path(__file__).resolve().parents[2]
UNBOUNDED = 10_000
TEST_EPISODES = 20
VALIDATION_EPISODES = 10
FEW_SAMPLES = 4
ROUNDS = 3


class Bench:
    """Runs measurements for one task on the local executor.

    Args:
        task: The environment.
        jobs: Worker processes; 0 means one per core.
    """

    def __init__(self, task: Task, jobs: int = 0) -> None:
        self.task = task
        env: gymnasium.Env[object, object] = make_env(task)
        self.observation_space, self.action_space = env.observation_space, env.action_space
        limit = env.spec.max_episode_steps if env.spec else None
        env.close()
        self.horizon = task.max_episode_steps or limit or UNBOUNDED
        self.executor: Executor = LocalExecutor(Settings(task, Limits()), jobs)
        self.steps = 0

    def close(self) -> None:
        """Stop the workers."""
        self.executor.close()

    def measure(self, method: str, budget: int, seed: int) -> Measurement:
        """Search or tune within a budget, then test."""
        sources = {} if method == "search" else supplied(self.task, method)
        before = max((self._test(source) for source in sources.values()), default=None)
        self.steps, started, cpu = 0, time.monotonic(), cpu_seconds()
        if method == "search":
            winner, source = self._search(budget, Seeds(seed))
        else:
            starts = [Start(name, source, math.nan) for name, source in sources.items()]
            best = max(self._tune(starts, budget, Seeds(seed), seed), key=_score)
            winner, source = best.id, best.source
        steps, seconds, cpu = self.steps, time.monotonic() - started, cpu_seconds() - cpu
        return Measurement(
            env=self.task.name,
            method=method,
            budget=budget,
            seed=seed,
            before=before,
            after=self._test(source),
            episodes=TEST_EPISODES,
            steps=steps,
            seconds=round(seconds, 2),
            cpu_seconds=round(cpu, 2),
            winner=winner,
            date=now(),
            versions=versions(),
        )

    def _search(self, budget: int, seeds: Seeds) -> tuple[str, str]:
        """Rounds of program search, each tuned, the best of all by validation seeds."""
        rounds = 1 if budget // self.horizon <= FEW_EPISODES else ROUNDS
        tried: list[Tried] = []
        best = (-math.inf, "", "")
        for round_ in range(1, rounds + 1):
            sources = dict.fromkeys(self._propose(round_, seeds.run_seed, tuple(tried)))
            starts = [Start(f"r{round_}c{i + 1}", source, math.nan) for i, source in enumerate(sources)]
            share = (budget - self.steps) // min(2, rounds - round_ + 1)  # as the loop does without a model
            looks = max(1, min(VALIDATION_EPISODES, share // 10 // self.horizon))
            share -= looks * self.horizon
            for tuned in self._tune(starts, share, seeds, seeds.run_seed + 1000 * round_):
                if math.isfinite(tuned.score):
                    value = self._mean(tuned.source, seeds.validation(looks))
                    tried.append(Tried(tuned.id, tuned.source, "ok", (0.0, value, 0.0)))
                    best = max(best, (value, tuned.id, tuned.source))
        return best[1], best[2]

    def _propose(self, round_: int, seed: int, tried: tuple[Tried, ...]) -> list[str]:
        sources = []
        for slot in range(FEW_SAMPLES):
            situation = Situation(
                self.observation_space, self.action_space, self.horizon, round_, slot, seed, tried
            )
            request = Request("", "policy", "", (Message("user", ""),), situation=situation)
            sources.append(code_of(asyncio.run(SearchLLM().complete(request)).text))
        return sources

    def _tune(self, starts: Sequence[Start], steps: int, seeds: Seeds, seed: int) -> tuple[Tuned, ...]:
        fresh: Callable[[int, int], tuple[int, ...]] = lambda start, n: seeds.train(n, start=start)  # noqa: E731
        search = tune(starts, steps=steps, seeds=fresh, horizon=self.horizon, seed=seed)
        rollouts: list[Rollout] | None = None
        while True:
            try:
                jobs = next(search) if rollouts is None else search.send(rollouts)
            except StopIteration as stop:
                results: tuple[Tuned, ...] = stop.value
                return results
            rollouts = asyncio.run(
                self._roll([Job(j.source, j.trials, j.record, stop_on_failure=False) for j in jobs])
            )

    async def _roll(self, jobs: Sequence[Job]) -> list[Rollout]:
        rollouts = await asyncio.gather(*(roll_out(self.executor, job) for job in jobs))
        self.steps += sum(rollout.steps for rollout in rollouts)
        return list(rollouts)

    def _test(self, source: str) -> float:
        return self._mean(source, Seeds().test(TEST_EPISODES))

    def _mean(self, source: str, seeds: Sequence[int]) -> float:
        params = {name: value for name, (value, _, _) in read_params(source).items()} or None
        trials = tuple(Trial(seed, params, self.horizon) for seed in seeds)
        (rollout,) = asyncio.run(self._roll([Job(source, trials)]))
        return -math.inf if rollout.failure else statistics.fmean(e.return_ for e in rollout.episodes)


def _score(tuned: Tuned) -> float:
    return tuned.score if math.isfinite(tuned.score) else -math.inf


def supplied(task: Task, label: str) -> dict[str, str]:
    """Structures that were written beforehand: name to source.

    "model" are recorded answers of a language model (tests/recordings), "hand" those written for this
    benchmark (benchmarks/structures).
    """
    if label == "model":
        folder = (
            ROOT / "tests" / "recordings" / (f"{task.env_id}-continuous" if task.env_kwargs else task.env_id)
        )
        sources = {
            path.stem: code_of(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))
        }
    else:
        folder = ROOT / "benchmarks" / "structures" / task.env_id
        sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    return {name: source for name, source in sources.items() if read_params(source)}


def code_of(text: str) -> str:
    """The last python fence of an answer."""
    blocks: list[str] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return blocks[-1]
