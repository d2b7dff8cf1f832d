"""The replayed state agrees with the search's own history at every prefix of a journal."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promptpo
from promptpo.core import loop
from promptpo.core.control import StopReason
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.journal import JOURNAL, Event, read_events
from promptpo.core.stop import early_stop_reason
from promptpo.llm.scripted import ScriptedLLM
from promptpo.run.config_file import load_config
from promptpo.run.state import RunState
from tests.promptpo.policies import GOOD, SYNTAX_ERROR, TUNABLE, WEAK


class HistoryRecorder:
    """Records the search's history after each round."""

    def __init__(self) -> None:
        self.rounds: dict[int, dict[str, Any]] = {}

    def __call__(self, context: SearchContext, history: History) -> StopReason | None:
        """Record the round; return the reason to stop, if any."""
        self.rounds[history.rounds] = summarize(history)
        return early_stop_reason(context, history)


def summarize(history: History) -> dict[str, Any]:
    """Return the facts that the search acts on."""
    return {
        "rounds": (history.rounds, history.stalled, history.leader_id, history.reflections),
        "ids": sorted(attempt.id for attempt in history.attempts),
        "episodes": {a.id: len(history.evidence(a).episodes) for a in history.attempts},
        "ranked": [attempt.id for attempt in history.ranking()],
        "duplicates": {a.id: a.candidate.duplicate_of for a in history.attempts if a.candidate.duplicate_of},
        "changes": list(history.changes),
        "ceiling": (history.ceiling, history.ceiling_reasons, history.answers),
    }


@pytest.fixture(scope="module")
def recorded_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, HistoryRecorder, promptpo.RunResult]:
    """A run of three rounds with a syntax error, a duplicate, tuning and changes of the leader."""
    answers = {"r1.c1": WEAK, "r1.c2": SYNTAX_ERROR, "r2.c1": TUNABLE, "r2.c2": WEAK, "r3.c1": GOOD}
    seen = HistoryRecorder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "early_stop_reason", seen)
        run = promptpo.optimize(
            "CartPole-v1",
            llm=ScriptedLLM(lambda request: answers.get(request.key, WEAK)),
            out=tmp_path_factory.mktemp("fold") / "run",
            rounds=3,
            candidates=2,
            episodes=3,
            validation_episodes=4,
            test_episodes=2,
            max_steps=6_000,
            repairs=0,
            recipe_options={"probe": False, "feedback_class": False, "early_stop": False},
        )
    return run.directory, seen, run


def events_of(run: Path) -> list[Event]:
    """Return the events of a run."""
    return read_events(run / JOURNAL)


@pytest.mark.slow
def test_replayed_state_matches_the_history_after_each_round(recorded_run: Any) -> None:
    directory, seen, _ = recorded_run
    state, rounds = RunState(load_config(directory / "config.toml")), 0
    for event in events_of(directory):
        state.add(event)
        if event.kind == "round":
            rounds += 1
            assert summarize(state.history) == seen.rounds[rounds]
            assert state.best is not None
    assert rounds == 3


def test_replayed_state_matches_the_result(recorded_run: Any) -> None:
    """The report, too, lists the changes of the leader."""
    directory, _, run = recorded_run
    state = RunState.of(load_config(directory / "config.toml"), events_of(directory))
    assert state.best is not None
    assert state.best.id == run.data["best"]["candidate"]
    assert state.history.changes == run.data["changes"]
    assert "takes the lead from r1c1: +" in run.data["changes"][0]
    page = (directory / "report.html").read_text(encoding="utf-8").replace("&#43;", "+")
    assert all(change in page for change in run.data["changes"])
    assert len(state.history.attempts) == run.data["candidates"]


@pytest.fixture(scope="module")
def replayed(recorded_run: Any) -> tuple[Any, list[Event], dict[str, Any]]:
    """Configuration and events of the run, and the summary of its replay."""
    directory, _, _ = recorded_run
    config, events = load_config(directory / "config.toml"), events_of(directory)
    return config, events, summarize(RunState.of(config, events).history)


@settings(max_examples=20, deadline=None)
@given(share=st.floats(0, 1))
def test_every_prefix_replays_to_a_consistent_state(replayed: Any, share: float) -> None:
    """Continuing from a prefix gives the same state as replaying at once."""
    config, events, whole = replayed
    cut = round(share * len(events))
    state = RunState.of(config, events[:cut])
    best = state.history.best()
    assert (state.best and state.best.id) == (best and best.id)
    assert [candidate.id for candidate in state.candidates] == [a.id for a in state.history.attempts]
    for candidate in state.candidates:
        assert candidate.ran == state.history.runs(candidate.attempt)
        assert not candidate.ran or candidate.evidence == state.history.evidence(candidate.attempt)
    assert best is None or math.isfinite(state.history.evidence(best).mean_return)
    for event in events[cut:]:
        state.add(event)
    assert summarize(state.history) == whole
