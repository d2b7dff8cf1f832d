"""One fold: what the search decided is a view of the state that `show` and the report read, at every prefix of a journal."""

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


class Remembering:
    """Keeps what the loop's own history says after each round."""

    def __init__(self) -> None:
        self.rounds: dict[int, dict[str, Any]] = {}

    def __call__(self, context: SearchContext, history: History) -> StopReason:
        """A round is over: whether another one follows."""
        self.rounds[history.rounds] = facts(history)
        return early_stop_reason(context, history)


def facts(history: History) -> dict[str, Any]:
    """What the search goes by."""
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
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Remembering, promptpo.RunResult]:
    """A run of three rounds: a mistake, a duplicate, tuned numbers and changes of the leader."""
    answers = {"r1.c1": WEAK, "r1.c2": SYNTAX_ERROR, "r2.c1": TUNABLE, "r2.c2": WEAK, "r3.c1": GOOD}
    seen = Remembering()
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
    """The journal of a run."""
    return read_events(run / JOURNAL)


@pytest.mark.slow
def test_the_fold_is_what_the_loop_knew(told: Any) -> None:
    """At the end of each round: candidates, evidence, order, duplicates, leader and standing are the same."""
    directory, seen, _ = told
    state, rounds = RunState(load_config(directory / "config.toml")), 0
    for event in events_of(directory):
        state.add(event)
        if event.kind == "round":
            rounds += 1
            assert facts(state.history) == seen.rounds[rounds]
            assert state.best is not None
    assert rounds == 3


def test_the_end_is_the_result(told: Any) -> None:
    """The best of the fold is that of the result, and who led before is told alike, with the paired difference; in the report, too."""
    directory, _, run = told
    state = RunState.of(load_config(directory / "config.toml"), events_of(directory))
    assert state.best is not None
    assert state.best.id == run.data["best"]["candidate"]
    assert state.history.changes == run.data["changes"]
    assert "takes the lead from r1c1: +" in run.data["changes"][0]
    page = (directory / "report.html").read_text(encoding="utf-8").replace("&#43;", "+")
    assert all(change in page for change in run.data["changes"])
    assert len(state.history.attempts) == run.data["candidates"]


@pytest.fixture(scope="module")
def folded(told: Any) -> tuple[Any, list[Event], dict[str, Any]]:
    """Configuration and events of the run, and what folding all of them gives."""
    directory, _, _ = told
    config, events = load_config(directory / "config.toml"), events_of(directory)
    return config, events, facts(RunState.of(config, events).history)


@settings(max_examples=20, deadline=None)
@given(share=st.floats(0, 1))
def test_every_prefix_is_a_state(folded: Any, share: float) -> None:
    """However a run is cut, both views of it agree, and folding on gives what folding at once gives."""
    config, events, whole = folded
    cut = round(share * len(events))
    state = RunState.of(config, events[:cut])
    best = state.history.best()
    assert (state.best and state.best.id) == (best and best.id)
    assert [one.id for one in state.candidates] == [one.id for one in state.history.attempts]
    for one in state.candidates:
        assert one.ran == state.history.runs(one.attempt)
        assert not one.ran or one.evidence == state.history.evidence(one.attempt)
    assert best is None or math.isfinite(state.history.evidence(best).mean_return)
    for event in events[cut:]:
        state.add(event)
    assert facts(state.history) == whole
