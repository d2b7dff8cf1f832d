"""Ctrl-C at any instant of a run ends it with the best policy so far."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from promptpo.api import make_config
from promptpo.core.control import INTERRUPTED
from promptpo.core.journal import JOURNAL, read_events
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, FatalProviderError
from promptpo.llm.base import Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.observer import Observer
from promptpo.session.session import Session
from tests.promptpo.fake_executor import FakeExecutor
from tests.promptpo.policies import FEEDBACK, GOOD, TUNABLE, WEAK, variant

ANSWERS = {
    "feedback": FEEDBACK,
    "r1.c1": TUNABLE,
    "r1.c2": variant(WEAK, 1),
    "r2.c1": variant(TUNABLE, 2),
    "r2.c2": GOOD,
}

BATCHES_TO_GAIN = 5
"""Tuning batches after which this run has found better parameters."""


async def model(request: Request) -> Any:
    """Answer after yielding to the event loop."""
    await asyncio.sleep(0)
    return ANSWERS.get(request.key, WEAK)


def play(source: str, trial: Any) -> float:
    """Return more the closer `angle` is to 1."""
    del source
    params = trial.params or {}
    return 10 - (params.get("angle", 0) - 1) ** 2 + 0.01 * (trial.seed % 7)


class Stopper(Observer):
    """Interrupts a run.

    Args:
        events: After so many events; None for never.
        turns: After so many turns of the event loop; None for never.
    """

    def __init__(self, events: int | None = None, turns: int | None = None) -> None:
        self.left, self.turns = events, turns
        self.session: Any = None
        self.warnings: list[str] = []
        self.over = False
        self._ticking: Any = None

    def on_start(self, *_: Any) -> None:
        """Start to count turns."""
        self._ticking = asyncio.ensure_future(self._tick())

    async def _tick(self) -> None:
        turn = 0
        while turn != self.turns and not self.over:
            await asyncio.sleep(0)
            turn += 1
        if self.turns is None:
            self.turns = turn
        elif not self.over:
            self.session.control.stop(INTERRUPTED)

    def on_event(self, event: Any) -> None:
        """Count an event."""
        del event
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.session.control.stop(INTERRUPTED)

    def on_finish(self, run: Any) -> None:
        """Stop counting."""
        self.over = True

    def warn(self, message: str) -> None:
        """Keep the message."""
        self.warnings.append(message)


@pytest.fixture
def run_with(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run with fake rollouts and an observer; return the result."""
    from promptpo.session import session

    config = make_config(
        Task("CartPole-v1"),
        {"candidates": 2, "episodes": 2, "validation_episodes": 2, "test_episodes": 2, "stop_at": 501.0,
         "rounds": 2, "max_steps": 1_400},
    )  # fmt: skip
    spec = session.load_spec(config)
    monkeypatch.setattr(session, "make_executor", lambda *_: FakeExecutor(play, call=lambda _: "told"))
    monkeypatch.setattr(session, "load_spec", lambda *_, **__: spec)
    monkeypatch.setattr(session, "write_page", lambda *_: None)

    def run(folder: Path, stopper: Stopper) -> Any:
        stopper.session = Session(config, folder, ScriptedLLM(model), stopper)
        return stopper.session.run()

    return run


LIMITS: dict[str, dict[str, Any]] = {
    "rounds": {"rounds": 1},
    "steps": {"max_steps": 80},
    "budget": {"max_calls": 1},
    "seconds": {"max_seconds": 1.0},
    "model": {},
    "fault": {},
    "interrupted": {},
}
"""Settings that make a run end by each kind of stop, if nothing else does."""


@pytest.mark.parametrize("kind", LIMITS)
def test_features_conclude_a_search_however_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The zero action, which joins the candidates at the end, is the best of every run in which it returns most."""
    from promptpo.session import session

    async def answer(request: Request) -> str:
        if request.key == "r2.c1":
            if kind == "model":
                raise FatalProviderError("the key is wrong.")
            if kind == "interrupted":
                work.control.stop(INTERRUPTED)
            if kind == "seconds":
                await asyncio.sleep(1.2)
        return GOOD if request.key == "r2.c1" else variant(WEAK, int(request.key[-1]))

    def play(source: str, trial: Any) -> float:
        if kind == "fault" and "0.5 * obs[3]" in source:
            raise EnvironmentFaultError("the environment broke.")
        return (20.0 if source.startswith('"""Always acts with zeros') else 10.0) + 0.01 * (trial.seed % 7)

    config = make_config(
        Task("CartPole-v1", max_episode_steps=10),
        {"candidates": 1, "episodes": 2, "validation_episodes": 2, "test_episodes": 2, "stop_at": 501.0, "rounds": 2,
         "recipe_options": {"tune": False, "probe": False, "feedback_class": False}, **LIMITS[kind]},
    )  # fmt: skip
    monkeypatch.setattr(session, "make_executor", lambda *_: FakeExecutor(play))
    monkeypatch.setattr(session, "write_page", lambda *_: None)
    work = Session(config, tmp_path / "run", ScriptedLLM(answer), Observer())
    run = work.run()
    assert (run.stop.kind, run.data["best"]["candidate"]) == (kind, "zero")


def check(folder: Path, run: Any) -> bool:
    """Check that the best candidate in the journal is exported; return whether there is one."""
    events = read_events(folder / JOURNAL)
    tried = {event.key for event in events if event.kind == "attempt"}
    assert run.stop.kind == "interrupted"
    assert (run.data["best"] is not None) == bool(tried)
    if tried:
        assert run.data["best"]["candidate"] in tried
        assert (folder / "best.py").exists()
        batches = sum(event.kind == "tuning" for event in events)
        assert run.data["best"]["tuned"] or batches < BATCHES_TO_GAIN
        assert json.loads((folder / "result.json").read_text())["stop_reason"] == run.stop_reason
    return bool(tried)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("every", [12, pytest.param(3, marks=pytest.mark.slow)])
def test_interrupt_after_any_event(tmp_path: Path, run_with: Any, every: int) -> None:
    whole = run_with(tmp_path / "whole", Stopper())
    assert whole.data["best"]["tuned"]
    events = len(read_events(tmp_path / "whole" / JOURNAL))
    instants = range(2, events - 1, every)
    found = [check(tmp_path / str(n), run_with(tmp_path / str(n), Stopper(n))) for n in instants]
    assert sum(found) > len(instants) // 2


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("every", [40, pytest.param(7, marks=pytest.mark.slow)])
def test_interrupt_at_any_await(tmp_path: Path, run_with: Any, every: int) -> None:
    """Answers, episodes and tuning until then still count."""
    counted = Stopper()
    run_with(tmp_path / "whole", counted)
    for n in range(0, counted.turns or 0, every):
        run = run_with(tmp_path / str(n), Stopper(turns=n))
        if run.stop.kind == "interrupted":
            check(tmp_path / str(n), run)


def test_second_interrupt_lets_calls_clean_up(tmp_path: Path) -> None:
    """Tasks that a call awaits while cleaning up, such as the start of a process, are not cancelled."""
    cleaned: list[bool] = []

    async def answer(_: Request) -> Any:
        session.control.stop(INTERRUPTED)
        session.control.stop(INTERRUPTED)
        starting = asyncio.ensure_future(asyncio.sleep(0.2))
        try:
            await asyncio.shield(starting)
        finally:
            await asyncio.wait([starting])
            cleaned.append(not starting.cancelled())

    config = make_config(Task("CartPole-v1"), {"rounds": 1, "candidates": 1, "max_steps": 1_400})
    session = Session(config, tmp_path / "run", ScriptedLLM(answer), Observer())
    with pytest.raises(KeyboardInterrupt):
        session.run()
    assert cleaned == [True]
