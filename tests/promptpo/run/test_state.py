"""The state of a run, from recorded journals and from made-up events."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.candidate import Attempt, Candidate, Remark, Sensitivity
from promptpo.core.config import Config
from promptpo.core.journal import JOURNAL, Journal, read_events, to_json
from promptpo.envs.task import Task
from promptpo.errors import RunError
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.config_file import config_text, load_config
from promptpo.run.models import summarize_models
from promptpo.run.state import RunState, read_state

RECORDED = Path(__file__).parents[1] / "core" / "recorded"


def evaluation(*returns: Any, first: int = 0, outcome: str = "ok", error: str = "") -> Any:
    """Return an evaluation with these returns on seeds from `first` on."""
    episodes = tuple(EpisodeRecord(first + n, float(value), 10) for n, value in enumerate(returns))
    return Evaluation(outcome, episodes, 10 * len(returns), error=error)


def measured(value: Any, purpose: Any, **links: Any) -> Any:
    """Return an evaluation as a journal event stores it."""
    return {"evaluation": to_json(value), "feedback": "", "spent": {purpose: value.steps}, **links}


def completion(text: Any, **links: Any) -> Any:
    """Return an answer as a journal event stores it."""
    usage = {"input_tokens": 100, "cached_input_tokens": 0, "output_tokens": 20}
    return {
        "purpose": "policy", "prompt": "p1", "text": text, "model": "demo", "finish": "stop",
        "usage": usage, "cost_usd": 0.5, "seconds": 1.0, **links,
    }  # fmt: skip


def attempt(id_: Any, trained: Any, *, repairs: int = 0, calls: Any = (), **more: Any) -> Any:
    """Return an attempt as a journal event stores it, with the calls that produced it."""
    candidate = Candidate(id_, f"# {id_}", int(id_[1]), digest=f"d-{id_}", repairs=repairs, **more)
    value = to_json(Attempt(candidate, trained))
    value["candidate"]["calls"] = list(calls)
    return value


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[Any]:
    """A run whose call keys say nothing and whose links say everything."""
    with Journal(tmp_path / "run") as journal:
        (tmp_path / "run" / "config.toml").write_text(config_text(Config(Task("CartPole-v1"), model="demo")))
        journal.add(
            "session", "0", {"command": "promptpo optimize CartPole-v1", "versions": {}, "sandbox": {}}
        )
        journal.add("reference", "random", measured(evaluation(20, 24, first=10**7), "reference"))
        journal.add("prompt", "p1", {"system": "Be brief.", "messages": [{"role": "user", "content": "Go"}]})
        journal.add("completion", "a", completion("first"))
        journal.add("completion", "b", completion("other"))
        crash = evaluation(outcome="crashed", error="IndexError")
        journal.add("evaluation", "r1c1.0", measured(crash, "train", candidate="r1c1", repairs=0))
        journal.add("completion", "c", completion("mended"))
        journal.add("evaluation", "r1c1.1", measured(evaluation(5, 7), "train", candidate="r1c1", repairs=1))
        journal.add("attempt", "r1c1", attempt("r1c1", evaluation(5, 7), repairs=1, calls=("a", "c")))
        journal.add("evaluation", "x", measured(evaluation(6, 6), "train", candidate="r1c2", repairs=0))
        journal.add("attempt", "r1c2", attempt("r1c2", evaluation(6, 6), calls=("b",)))
        journal.add("decision", "r1.tuning_steps", 500)
        tuning = {"spent": {"tune": 50}, "best_return": 9.0, "rollouts": "", "candidates": ["r1c2"]}
        journal.add("tuning", "r1.t1", tuning)
        validation = evaluation(8, 8, first=10**7)
        journal.add("validation", "d-r1c1.1", measured(validation, "validation", candidate="r1c1"))
        journal.add(
            "validation", "d-r1c2.2", measured(evaluation(9, 9, first=10**7), "validation", candidate="r1c2")
        )
        again = evaluation(1, 1, first=10**7 + 2)
        journal.add("validation", "d-r1c2.3", measured(again, "validation", candidate="r1c2"))
        journal.add("aside", "?", {"spent": {"thinking": 3}})
        yield journal


def test_links_assign_calls_failures_and_validations(linked: Any) -> None:
    """Nothing is inferred from keys."""
    state = read_state(linked.directory)
    repaired, other = state.candidates
    assert list(repaired.calls) == ["a", "c"]
    assert list(other.calls) == ["b"]
    assert [(who, repaired, one.error) for who, repaired, one in state.stopped] == [
        ("r1c1", True, "IndexError")
    ]
    assert repaired.validation.returns == (8, 8)
    assert other.validation.returns == (9, 9, 1, 1)
    assert [(batch.candidates, batch.spent) for batch in state.tuning] == [(("r1c2",), {"tune": 50})]


def test_references_and_unknown_events_are_counted(linked: Any) -> None:
    """Steps of unknown kinds and purposes count as recorded."""
    state = read_state(linked.directory)
    assert state.history.reference_evaluations["random"].mean_return == 22
    assert state.ledger.steps["reference"] == 20
    assert state.ledger.steps["thinking"] == 3
    assert state.ledger.calls == 3
    assert state.ledger.cost_usd == 1.5


def test_best_is_chosen_by_the_model_of_returns(linked: Any) -> None:
    """Its estimate is also the one that is reported."""
    state = RunState(load_config(linked.directory / "config.toml"))
    leaders = []
    for event in linked.events:
        state.add(event)
        leaders.append(state.best and state.best.id)
    assert leaders[[e.key for e in linked.events].index("d-r1c2.2")] == "r1c2"
    assert state.best.id == "r1c2"
    estimate = state.history.returns.of(state.best.attempt.candidate.digest or "r1c2").mean
    assert state.best.evidence.mean_return == estimate == pytest.approx(32 / 6, rel=0.01)
    assert state.best_so_far[-1][1].mean_return == estimate


def test_round_event_decides_the_best(linked: Any) -> None:
    linked.add("round", "r1", {"best": "r1c2", "mean_return": 5.2, "standard_error": 1.1, "episodes": 6,
                               "stalled": 2, "unanswered": {"1": "refused"}, "reflection": "Hm."})  # fmt: skip
    state = read_state(linked.directory)
    assert state.best.id == "r1c2"
    assert (state.history.rounds, state.history.stalled, state.history.reflections) == (1, 2, ["Hm."])


def test_lead_event_decides_the_best(linked: Any) -> None:
    """It does so before the round ends, and after its last race."""
    linked.add("lead", "r1.r1c1.r1c2", {"leader": "r1c2", "change": "r1c2 takes the lead from r1c1: +1"})
    state = read_state(linked.directory)
    assert state.best.id == "r1c2"
    assert state.history.changes == ["r1c2 takes the lead from r1c1: +1"]


def test_candidate_that_fails_in_validation_is_not_the_best(linked: Any) -> None:
    crash = evaluation(100, first=10**7 + 5, outcome="crashed", error="ZeroDivisionError")
    linked.add("validation", "d-r1c1.4", measured(crash, "validation", candidate="r1c1"))
    state = read_state(linked.directory)
    assert not state.candidate("r1c1").ran
    assert state.candidate("r1c1").validation.outcome == "crashed"
    assert state.best.id == "r1c2"


def test_remarks_update_their_candidate(linked: Any) -> None:
    """A later duplicate is never the best, and results of tuning without gain are kept."""
    remarks = [
        Remark("r1c1", sensitivity={"kp": Sensitivity(0.5, "lower")}, notes=("tuned 40 evaluations",)),
        Remark("r1c3", duplicate_of="r1c1"),
        Remark("r9c9", duplicate_of="r1c1"),
    ]
    linked.add("attempt", "r1c3", attempt("r1c3", evaluation(5, 7)))
    for remark in remarks:
        linked.add("remark", f"{remark.candidate}.x", remark)
    state = RunState.of(Config(Task("CartPole-v1")), linked.events)
    first, second = state.candidate("r1c1"), state.candidate("r1c3")
    assert first is not None
    assert second is not None
    assert first.attempt.candidate.sensitivity == {"kp": Sensitivity(0.5, "lower")}
    assert first.attempt.notes == ("tuned 40 evaluations",)
    assert second.attempt.candidate.duplicate_of == "r1c1"
    assert state.best is not None
    assert state.best.id != "r1c3"


def test_new_session_makes_the_run_unfinished(linked: Any) -> None:
    """Finished means that the latest process stopped properly."""
    linked.add("stop", "0", {"reason": "done"})
    assert read_state(linked.directory).stop
    linked.add("session", "1", {"command": "promptpo resume run", "versions": {}, "sandbox": {}})
    assert not read_state(linked.directory).stop


@pytest.mark.parametrize("name", ["search", "model"])
def test_state_of_a_recorded_run_agrees_with_its_result(name: str) -> None:
    state = read_state(RECORDED / name)
    result = json.loads((RECORDED / name / "result.json").read_text())
    assert state.stop
    assert state.best.id == result["best"]["candidate"]
    assert state.best.validation.returns == tuple(result["validation"]["returns"])
    assert state.test.returns == tuple(result["test"]["returns"])
    assert dict(state.ledger.steps).items() <= {**result["steps"]}.items() | {("reference", 0), ("probe", 0)}
    assert len(state.candidates) == result["candidates"]
    assert state.history.rounds == result["rounds"]


def test_repaired_calls_and_duplicates_are_known() -> None:
    """A duplicate shares the validation of the first program."""
    state = read_state(RECORDED / "model")
    assert [(who, repaired, one.outcome) for who, repaired, one in state.stopped] == [
        ("r1c2", True, "crashed")
    ]
    assert list(state.candidate("r1c2").calls) == ["r1.c2", "r1.c2.repair1"]
    assert state.candidate("r2c1").attempt.candidate.duplicate_of == "r1c1"
    assert state.candidate("r2c1").validation == state.candidate("r1c1").validation


def test_spending_only_grows(tmp_path: Path) -> None:
    """The state is defined at every prefix of a journal."""
    config, events = (
        load_config(RECORDED / "search" / "config.toml"),
        read_events(RECORDED / "search" / JOURNAL),
    )
    state, before = RunState(config), 0
    for event in events:
        state.add(event)
        assert state.spent.steps >= before
        before = state.spent.steps
        assert state.best is None or state.best.ran
    shutil.copytree(RECORDED / "search", tmp_path / "run")
    assert read_state(tmp_path / "run").spent == state.spent


def test_directory_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run directory"):
        read_state(tmp_path)


def test_best_of_a_model_is_chosen_like_the_runs_best(tmp_path: Path) -> None:
    """Success counts before the return, if the environment reports success."""
    (tmp_path / "config.toml").write_text(config_text(Config(Task("X-v0"))))
    with Journal(tmp_path) as journal:
        journal.add("session", "s", {"command": "x", "versions": {}, "sandbox": {}})
        for key in "ab":
            journal.add("completion", key, completion(key))
        for id_, success, call in (("r1c1", True, "a"), ("r1c2", False, "b")):
            episodes = tuple(EpisodeRecord(n, 1.0 - success + n, 10, success=success) for n in range(4))
            journal.add("attempt", id_, attempt(id_, Evaluation("ok", episodes, 40), calls=(call,)))
    state = read_state(tmp_path)
    assert state.best is not None
    (model,) = summarize_models(state)
    assert model["best"] == state.best.id == "r1c1"
