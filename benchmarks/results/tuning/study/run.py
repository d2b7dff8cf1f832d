"""One measurement of the tuning benchmark: structures, a step budget and a seed in, a test return out.

It is a run of promptpo like any other. Program search proposes its own structures over three rounds; structures
that were written beforehand are what a provider that recites them answers, in a single round.
"""

from __future__ import annotations

import math
import re
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpu import cpu_seconds
from rows import Measurement, now
from promptpo.api import optimize
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.evaluating import evaluate
from promptpo.output.report import versions
from promptpo.program import Program
from promptpo.program.answers import extract_program
from promptpo.output.observer import Observer
from promptpo.core.candidate import Seeds

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.llm.base import Request
    from promptpo.core.journal import Event

ROOT = Path(__file__).resolve().parents[4]
TEST_EPISODES = 20
ROUNDS, CANDIDATES = 3, 4
ROUNDS_IN_THE_LOOP, IN_THE_LOOP = ("round1", "round2", "round3", "round4"), 3
"""The rounds of the recorded runs, and the candidates of each."""

NEVER = 1e9
"""A return that no task has: a run goes on after it counts as solved, so that all have the same steps."""


class _Clock(Observer):
    """Notes when the last work before the final test ended; workers still run then, so none of theirs is lost."""

    def __init__(self) -> None:
        self.seconds, self.cpu_seconds = time.monotonic(), cpu_seconds()
        self._began = self.seconds, self.cpu_seconds

    def event(self, event: Event) -> None:
        """Take the time, unless it is the test that has ended."""
        if event.kind not in {"test", "stop"}:
            self.seconds, self.cpu_seconds = time.monotonic(), cpu_seconds()

    @property
    def spent(self) -> tuple[float, float]:
        """Wall and CPU seconds since the clock was made."""
        return self.seconds - self._began[0], self.cpu_seconds - self._began[1]


def measure(task: Task, method: str, budget: int, seed: int, jobs: int = 0) -> Measurement:
    """Search or tune within a budget, then test.

    Args:
        task: The environment.
        method: "search", or where the structures come from; see `supplied`.
        budget: Environment steps for everything but the test.
        seed: Of the run.
        jobs: Worker processes; 0 means one per core.
    """
    sources = {} if method == "search" else supplied(task, method)
    before = max((_untuned(task, source, jobs) for source in sources.values()), default=None)
    asked: dict[str, Any] = {"model": "search", "rounds": ROUNDS, "candidates": CANDIDATES}
    if sources:
        answers = [f"```python\n{source}\n```" for source in sources.values()]
        asked = {"llm": _reciting(answers, method), "rounds": 1, "candidates": len(sources)}
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder:
        run = optimize(
            task.env_id,
            env_kwargs=task.env_kwargs,
            max_episode_steps=task.max_episode_steps,
            out=Path(folder) / "run",
            seed=seed,
            max_steps=budget,
            test_episodes=TEST_EPISODES,
            stop_at=NEVER,
            jobs=jobs,
            observer=clock,
            **asked,
        )
    seconds, cpu = clock.spent
    best = run.data["best"]
    return Measurement(
        env=task.name,
        method=method,
        budget=budget,
        seed=seed,
        before=before,
        after=run.mean_return if best else -math.inf,
        episodes=TEST_EPISODES,
        steps=run.data["searched_steps"],
        seconds=round(seconds, 2),
        cpu_seconds=round(cpu, 2),
        winner=_winner(best["candidate"], list(sources)) if best else "",
        date=now(),
        versions=versions(),
    )


def _reciting(answers: Sequence[str], name: str) -> ScriptedLLM:
    """A provider that gives each sample of a round its own answer."""

    def answer(request: Request) -> str:
        return answers[request.situation.slot if request.situation else 0]

    return ScriptedLLM(answer, name=name, purposes=frozenset({"policy"}))


def _untuned(task: Task, source: str, jobs: int) -> float:
    """Mean test return of a structure with the numbers that it was written with."""
    seeds = Seeds().test(TEST_EPISODES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.py"
        path.write_text(source, encoding="utf-8")
        played = evaluate(
            path,
            task.env_id,
            episodes=len(seeds),
            seed=seeds[0],
            env_kwargs=task.env_kwargs,
            max_episode_steps=task.max_episode_steps,
            jobs=jobs,
        )
    evaluation = played.evaluation
    return evaluation.mean_return if evaluation.outcome == "ok" else -math.inf


def _answered(task: Task, round_: int) -> dict[str, str]:
    """The programs of one round of a recorded run, counted from 0; what was asked before the first is passed over."""
    path = ROOT / "benchmarks" / "results" / "model-in-the-loop" / f"{task.env_id}.tar.xz"
    if not path.exists():
        return {}
    sources = {}
    with tarfile.open(path) as archive:
        names = sorted(name for name in archive.getnames() if re.fullmatch(r"box/\d+\.md", name))
        policies = [name for name in names if "class Policy" in _text(archive, name)]
        for i, name in enumerate(policies[IN_THE_LOOP * round_ :][:IN_THE_LOOP]):
            source = extract_program(_text(archive, name.replace(".md", ".answer.md"))).source
            if source:
                sources[f"r{round_ + 1}c{i + 1}"] = source
    return sources


def _text(archive: tarfile.TarFile, name: str) -> str:
    file = archive.extractfile(name) if name in archive.getnames() else None
    return file.read().decode() if file is not None else ""


def _winner(candidate: str, names: Sequence[str]) -> str:
    """The structure that a candidate was made of: "r1c2t" is the second, tuned."""
    slot = candidate.partition("c")[2].rstrip("t")
    return names[int(slot) - 1] if names else candidate


def supplied(task: Task, label: str) -> dict[str, str]:
    """Structures that were written beforehand: name to source.

    "model" are recorded answers of a language model (tests/recordings), "hand" those written for this
    benchmark (benchmarks/structures), "round1" to "round4" what a large model answered in that round of a whole run
    (benchmarks/results/model-in-the-loop).
    """
    if label in ROUNDS_IN_THE_LOOP:
        sources = _answered(task, ROUNDS_IN_THE_LOOP.index(label))
    elif label == "model":
        name = f"{task.env_id}-continuous" if task.env_kwargs else task.env_id
        sources = {
            path.stem: extract_program(path.read_text(encoding="utf-8")).source
            for path in sorted((ROOT / "tests" / "recordings" / name).glob("*.md"))
        }
    else:
        folder = ROOT / "benchmarks" / "results" / "tuning" / "structures" / task.env_id
        sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    return {name: source for name, source in sources.items() if Program.from_source(source).params}
