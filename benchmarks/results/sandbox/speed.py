"""The cost of the sandbox: ``python benchmarks/results/sandbox/speed.py [--json] [--quick] [--seconds N]``.

It ends after 160 seconds, on a busy machine with fewer repeats, and prints what it has even where a part fails.

- ``ratios``: environment steps per CPU second through the sandbox (host and guest together) over the same
  policy in a plain Python loop; the median of interleaved pairs, for K episodes in lockstep.
  ``--pictures`` measures these alone, for environments whose observations are pictures.
- ``scaling``: steps per wall second of two host-guest pairs at once over one pair.
- ``start``: CPU time and private memory of a fresh confined guest, its source checked and its first action taken.
- ``short_evaluations``: candidates per second where each runs three short episodes.
- ``candidate``: CPU time of a candidate of ten 500-step CartPole episodes through parsing, gate, rollout and
  journal over that of the plain rollout, with an empty and with a long journal.
- ``problems``: parts that failed or that time ran out for.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gymnasium

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.program.answers import extract_program
from promptpo.rollouts import evaluation_of
from promptpo.core.journal import Journal
from promptpo_sandbox import Sandbox, Trial

LANES = (1, 8, 16, 32)
RATIOS_SHARE = 0.6
"""Of the time for everything; the rest is for the other parts."""

LINEAR = """
class Policy:
    def __init__(self):
        self.k = (0.02, 0.05, 1.0, 0.5)

    def act(self, obs):
        a, b, c, d = self.k
        return 1 if a * obs[0] + b * obs[1] + c * obs[2] + d * obs[3] > 0 else 0
"""
GAIT = """
import numpy as np


class Policy:
    def __init__(self):
        self.t = 0
        self.phase = np.array([0.0, 1.1, 2.2, 3.1, 4.2, 5.3])
        self.amplitude = np.array([0.6, 0.5, 0.4, 0.6, 0.5, 0.4])
        self.gain = np.linspace(-0.1, 0.1, 6 * 17).reshape(6, 17)

    def act(self, obs):
        self.t += 1
        swing = self.amplitude * np.sin(0.35 * self.t + self.phase)
        return np.clip(swing + self.gain @ obs, -1.0, 1.0)
"""
REACH = """
import numpy as np


class Policy:
    def act(self, obs):
        hand, goal = obs[0:3], obs[36:39]
        action = np.zeros(4, dtype=np.float32)
        action[:3] = np.clip(10.0 * (goal - hand), -1.0, 1.0)
        return action
"""
TABLE = """
class Policy:
    def __init__(self):
        self.table = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]

    def act(self, obs):
        return self.table[obs]
"""
PIXEL = """
class Policy:
    def act(self, obs):
        return 1 if obs[48, 48, 1] > 150 else 0
"""


@dataclass(frozen=True)
class Case:
    """One thing to measure.

    Attributes:
        env_id: The environment.
        source: A policy for it.
        horizon: Steps per episode.
        episodes: How many.
        env_kwargs: Of the environment.
    """

    env_id: str
    source: str
    horizon: int
    episodes: int
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)

    def envs(self, n: int) -> list[gymnasium.Env[Any, Any]]:
        """The environments, built as the tool builds them."""
        return [make_env(Task(self.env_id, self.env_kwargs)) for _ in range(n)]


CASES = (
    Case("CartPole-v1", LINEAR, 500, 128),
    Case("HalfCheetah-v5", GAIT, 1000, 32),
    Case("reach-v3", REACH, 200, 32),
    Case("FrozenLake-v1", TABLE, 100, 1024),
)

PICTURES = (
    Case("CarRacing-v3", PIXEL, 100, 8, {"continuous": False}),
    Case("ale_py:ALE/Pong-v5", PIXEL, 300, 8),
)
"""Environments whose observations are pictures."""


@dataclass(frozen=True)
class Ratio:
    """One row of ``ratios``."""

    env: str
    k: int
    workers: int
    ratio: float
    plain_steps_per_cpu_second: float
    pairs: int


def plain_steps_per_second(case: Case, env: gymnasium.Env[Any, Any], episodes: int) -> float:
    """Steps per CPU second of a loop without any sandbox."""
    code = compile(case.source, "policy", "exec")
    began, steps = time.process_time(), 0
    for seed in range(episodes):
        namespace: dict[str, Any] = {}
        exec(code, namespace)  # noqa: S102 - our own text
        policy = namespace["Policy"]()
        obs, _ = env.reset(seed=seed)
        total = 0.0
        for _ in range(case.horizon):
            obs, reward, terminated, truncated, _ = env.step(policy.act(obs))
            total += float(reward)
            steps += 1
            if terminated or truncated:
                break
    return steps / (time.process_time() - began)


def boxed_steps_per_second(
    case: Case, box: Sandbox, envs: Sequence[gymnasium.Env[Any, Any]], episodes: int
) -> float:
    """Steps per CPU second of host and guest together."""
    trials = [Trial(seed, None, case.horizon) for seed in range(episodes)]
    began = time.process_time()
    rollout = box.rollout(case.source, envs, trials)
    seconds = time.process_time() - began + rollout.guest_cpu_seconds
    if rollout.failure is not None:
        raise RuntimeError(rollout.failure.message)
    return rollout.steps / seconds


def measure_ratios(
    case: Case, lanes: Sequence[int], repeats: int, share: float, *, until: float = math.inf
) -> Iterator[Ratio]:
    """Interleaved pairs for each number of lanes, which take turns, so that all have some when time is over.

    Args:
        case: What runs.
        lanes: Episodes in lockstep.
        repeats: Pairs for each.
        share: Of the case's episodes.
        until: When to stop, by `time.monotonic`; a pair that has begun is finished.
    """
    episodes = max(*lanes, int(case.episodes * share))
    plain: dict[int, list[float]] = {k: [] for k in lanes}
    ratios: dict[int, list[float]] = {k: [] for k in lanes}
    with Sandbox() as box:
        envs = case.envs(max(lanes))
        boxed_steps_per_second(case, box, envs, max(lanes))
        for _ in range(repeats):
            for k in lanes:
                if time.monotonic() < until:
                    plain[k].append(plain_steps_per_second(case, envs[0], max(1, episodes // 4)))
                    boxed = boxed_steps_per_second(case, box, envs[:k], episodes)
                    ratios[k].append(boxed / plain[k][-1])
    for k in lanes:
        if ratios[k]:
            middle, speed = statistics.median(ratios[k]), statistics.median(plain[k])
            yield Ratio(case.env_id, k, 1, round(middle, 3), round(speed), len(ratios[k]))


def _steady(case: Case, k: int, seconds: float, start: Any, results: Any) -> None:
    """A worker: steps per wall second over a fixed time."""
    with Sandbox() as box:
        envs = case.envs(k)
        trials = [Trial(seed, None, case.horizon) for seed in range(2 * k)]
        box.rollout(case.source, envs, trials)
        start.wait()
        began, steps = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            steps += box.rollout(case.source, envs, trials).steps
        results.put(steps / (time.perf_counter() - began))


def measure_scaling(case: Case, k: int, seconds: float, repeats: int) -> dict[str, Any]:
    """Two pairs at once over one, in steps per wall second."""

    def together(workers: int) -> float:
        context = multiprocessing.get_context("spawn")
        start, results = context.Barrier(workers), context.Queue()
        processes = [
            context.Process(target=_steady, args=(case, k, seconds, start, results)) for _ in range(workers)
        ]
        for process in processes:
            process.start()
        try:
            rates = [results.get(timeout=10 * seconds + 30) for _ in processes]
        finally:
            for process in processes:
                process.terminate()
                process.join()
        return float(sum(rates))

    ratio = statistics.median(together(2) / together(1) for _ in range(repeats))
    return {"env": case.env_id, "k": k, "workers": 2, "scaling": round(ratio, 2)}


def measure_start(repeats: int) -> dict[str, float]:
    """A fresh guest: CPU until its first action was taken, and what it holds for itself alone."""
    case = CASES[0]
    with Sandbox() as box:
        env = case.envs(1)
        trial = [Trial(0, None, 1)]
        began = time.process_time()
        box.status  # noqa: B018 - starts the zygote
        cpu, host, wall = [], [], []
        for _ in range(repeats):
            began, clock = time.process_time(), time.perf_counter()
            cpu.append(box.rollout(case.source, env, trial).guest_cpu_seconds)
            host.append(time.process_time() - began)
            wall.append(time.perf_counter() - clock)
        private = _private_bytes(box, case, env)
    return {
        "guest_cpu_ms": round(1e3 * statistics.median(cpu), 2),
        "host_cpu_ms": round(1e3 * statistics.median(host), 2),
        "wall_ms": round(1e3 * statistics.median(wall), 2),
        "private_mib": round(private / 2**20, 2),
    }


class _Looking(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Looks at the guest's memory in the middle of an episode."""

    def __init__(self, env: gymnasium.Env[Any, Any], look: Callable[[], None]) -> None:
        super().__init__(env)
        self._look = look

    def step(self, action: Any) -> Any:
        """One step, and a look."""
        self._look()
        return self.env.step(action)


def _private_bytes(box: Sandbox, case: Case, envs: list[gymnasium.Env[Any, Any]]) -> int:
    """Private memory of a guest in its tenth step; 0 where the system does not tell."""
    seen = [0]

    def look() -> None:
        zygote = box._zygote  # noqa: SLF001 - a measurement, not a use
        guest = None if zygote is None else zygote._guest  # noqa: SLF001 - likewise
        try:
            text = Path(f"/proc/{guest.pid if guest else 0}/smaps_rollup").read_text(encoding="ascii")
        except OSError:
            return
        fields = [line.split() for line in text.splitlines()]
        seen.append(1024 * sum(int(field[1]) for field in fields if field[0].startswith("Private_")))

    box.rollout(case.source, [_Looking(envs[0], look)], [Trial(0, None, 10)])
    return max(seen)


def measure_short_evaluations(seconds: float) -> dict[str, float]:
    """Candidates per wall second, one pair, three FrozenLake episodes each."""
    case = CASES[3]
    with Sandbox() as box:
        envs = case.envs(3)
        box.rollout(case.source, envs, [Trial(0)])
        began, n = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            box.rollout(f"SHIFT = {n}\n{case.source}", envs, [Trial(seed) for seed in range(3)])
            n += 1
        return {"candidates_per_second": round(n / (time.perf_counter() - began), 1)}


def measure_candidate(history: int, repeats: int) -> dict[str, float]:
    """CPU of a whole candidate over that of the plain rollout, early and late in a run."""
    case = Case("CartPole-v1", LINEAR, 500, 10)
    answer = f"Balance it.\n\n```python\n{case.source}\n```\n"

    def whole(box: Sandbox, envs: Sequence[gymnasium.Env[Any, Any]], journal: Journal, n: int) -> float:
        began = time.process_time()
        journal.add("completion", f"c{n}", {"text": answer})
        source = extract_program(answer).source
        rollout = box.rollout(source, envs, [Trial(seed, None, 500) for seed in range(10)])
        journal.add("evaluation", f"r{n}", evaluation_of(rollout))
        return time.process_time() - began + rollout.guest_cpu_seconds

    with Sandbox() as box, tempfile.TemporaryDirectory() as name, Journal(Path(name)) as journal:
        envs = case.envs(10)
        whole(box, envs, journal, -1)
        early = _over_plain(lambda n: whole(box, envs, journal, n), case, envs, range(repeats))
        for n in range(repeats, history):
            journal.add("completion", f"c{n}", {"text": answer})
        late = _over_plain(
            lambda n: whole(box, envs, journal, n), case, envs, range(history, history + repeats)
        )
    return {"ratio": round(early, 3), f"ratio_after_{history}": round(late, 3)}


def _over_plain(
    whole: Callable[[int], float], case: Case, envs: Sequence[gymnasium.Env[Any, Any]], numbers: range
) -> float:
    ratios = []
    for n in numbers:
        plain = 10 * 500 / plain_steps_per_second(case, envs[0], 10)
        ratios.append(whole(n) / plain)
    return statistics.median(ratios)


class _OutOfTime(BaseException):  # noqa: N818 - none that a broad handler on the way may take for its own
    """The time for all of it is over."""


def measure_all(
    parts: Mapping[str, Callable[[], Any]], seconds: float, result: dict[str, Any]
) -> dict[str, Any]:
    """Every part's measurement, in order; what fails, or has no time left, is named instead.

    Args:
        parts: What measures, by the name of its entry.
        seconds: For all of it; a part that is at work then is broken off.
        result: Taken over, and filled in.
    """
    result["problems"] = {}

    def ring(*_: Any) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    name = ""
    try:
        for name, measure in parts.items():
            try:
                result[name] = measure()
            except Exception as error:  # noqa: BLE001 - the other parts are measured all the same
                result["problems"][name] = f"{type(error).__name__}: {error}"
    except (_OutOfTime, KeyboardInterrupt):
        done = list(parts).index(name)
        result["problems"] |= dict.fromkeys(list(parts)[done:], "no time was left")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return result


def _all_ratios(
    cases: Sequence[Case], lanes: Sequence[int], repeats: int, share: float, seconds: float, rows: list[Any]
) -> list[Any]:
    """Ratios of all cases, each of which has its part of what is left of the time; rows that are done are added at once."""
    ends = time.monotonic() + seconds
    print(f"{'environment':20} {'K':>3} {'ratio':>7} {'plain steps/CPU s':>18} {'pairs':>6}", file=sys.stderr)
    for i, case in enumerate(cases):
        until = time.monotonic() + (ends - time.monotonic()) / (len(cases) - i)
        for row in measure_ratios(case, lanes, repeats, share, until=until):
            rows.append(asdict(row))
            print(
                f"{row.env:20} {row.k:3} {row.ratio:7.3f} {row.plain_steps_per_cpu_second:18.0f} {row.pairs:6}",
                file=sys.stderr,
            )
    return rows


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--pictures", action="store_true", help="only observations that are pictures")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter repeats")
    parser.add_argument("--seconds", type=float, default=160.0, help="wall time for all of it")
    options = parser.parse_args()
    repeats, share, seconds = (3, 0.1, 1.0) if options.quick else (7, 1.0, 2.0)
    cases, lanes = (PICTURES, LANES[:2]) if options.pictures else (CASES, LANES)
    rows: list[Any] = []
    parts: dict[str, Callable[[], Any]] = {
        "start": lambda: measure_start(20),
        "short_evaluations": lambda: measure_short_evaluations(seconds),
        "candidate": lambda: measure_candidate(1000, repeats),
        "ratios": lambda: _all_ratios(cases, lanes, repeats, share, RATIOS_SHARE * options.seconds, rows),
        "scaling": lambda: [measure_scaling(case, 16, seconds, 3) for case in CASES[:2]],
    }
    if options.pictures:
        parts = {"ratios": parts["ratios"]}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    result = measure_all(parts, options.seconds, {"cores": cores, "ratios": rows})
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, found in result.items():
        print(f"{name}: {json.dumps(found)}")


if __name__ == "__main__":
    main()
