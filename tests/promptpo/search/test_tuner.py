"""A round's tuning inside a run: what is tuned, from where, for how long, and what is written of it."""

from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.llm.scripted import ScriptedLLM
from promptpo.program import Program
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.journal import from_json, read_run, to_json
from promptpo.run.records import Attempt, Candidate, Sensitivity
from promptpo.search.history import History
from promptpo.search.tuner import inherited
from promptpo.search.tuning import patience
from promptpo.search.tuning.patience import Patience
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import TUNABLE

IDLE = TUNABLE.replace("self.angle * obs[2] + self.rate * obs[3] > 0", "obs[2] > 0")


def test_a_batch_tells_how_far_tuning_is(tmp_path: Path) -> None:
    """Evaluations done rise to those planned; what mattered is kept with the candidate."""
    run = optimize(Model(default=TUNABLE), tmp_path / "run", rounds=1, candidates=1, max_steps=60_000)
    events = read_run(run.directory)
    batches = [event.data for event in events["tuning"]]
    done = [batch["done"] for batch in batches]
    assert done == sorted(done)
    assert all(batch["of"] >= batch["done"] > 0 for batch in batches)
    assert all(batch["seconds"] > 0 for batch in batches)
    tuned = from_json(Attempt, events["attempt"][-1].data).candidate
    assert tuned.id == "r1c1t"
    assert set(tuned.sensitivity) == {"angle", "rate"}


def test_old_journals_have_candidates_without_sensitivity() -> None:
    """A run of an earlier version loads."""
    data = to_json(Candidate("r1c1", "x = 1", 1, sensitivity={"a": Sensitivity(0.5, "lower")}))
    assert from_json(Candidate, data).sensitivity["a"] == Sensitivity(0.5, "lower")
    del data["sensitivity"]
    assert from_json(Candidate, data).sensitivity == {}


def test_numbers_without_effect_leave_the_steps_to_later_rounds(tmp_path: Path) -> None:
    """Parameters that the policy does not use: a fraction of the part is spent, and the next prompt is told."""
    model = Model(default=IDLE)
    run = optimize(model, tmp_path / "run", rounds=2, candidates=1, max_steps=60_000)
    events = read_run(run.directory)
    planned = {event.key: event.data for event in events["decision"]}["r1.tuning_steps"]
    spent = sum(sum(e.data["spent"].values()) for e in events["tuning"] if e.key.startswith("r1."))
    assert 0 < spent < 0.35 * planned
    assert [event.key for event in events["attempt"]][:1] == ["r1c1"]
    assert not any(event.key.endswith("t") for event in events["attempt"])


def test_what_is_at_the_threshold_is_not_tuned(tmp_path: Path) -> None:
    """It needs no other numbers."""
    solved = TUNABLE.replace("-1.0, -2.0", "1.0, -2.0").replace("-0.5, -2.0", "0.5, -2.0")
    run = optimize(
        Model(default=solved), tmp_path / "run", rounds=1, candidates=1, max_steps=60_000, stop_at=100.0
    )
    assert run.data["steps"]["tune"] == 0


def test_a_child_begins_at_what_its_parent_was_tuned_to() -> None:
    """Where names agree; also where the prompt showed the untuned parent; strangers leave nothing."""

    def attempt(id_: Any, params: Any, **more: Any) -> Any:
        source = f"PARAMS = {params!r}\n"
        return Attempt(Candidate(id_, source, 1, **more), Evaluation("ok", (), 0))

    old = attempt("r1c1", {"kp": (1.0, 0.0, 9.0), "kd": (1.0, 0.0, 9.0)})
    tuned = attempt(
        "r1c1t",
        {"kp": (5.0, 0.0, 9.0), "kd": (2.0, 0.0, 9.0)},
        parents=("r1c1",),
        tuned={"kp": (1.0, 5.0), "kd": (1.0, 2.0)},
    )
    params = {"kp": (1.0, 0.0, 9.0), "new": (3.0, 0.0, 9.0)}
    for parent, expected in [("r1c1t", [{"kp": 5.0}]), ("r1c1", [{"kp": 5.0}]), ("r1c2", [])]:
        child = attempt("r2c1", params, parents=(parent,))
        history = History([old, tuned, child])
        assert list(inherited(Program.parse(child.candidate.source), child, history)) == expected


def test_time_ends_tuning_and_a_resumed_run_decides_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of time in the first batch: the decision is journaled and replayed, whatever the clock says then."""
    monkeypatch.setattr(patience, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(patience, "REST", 1e-6)
    monkeypatch.setattr(patience, "FASTER", 1e12)
    model = Model(default=TUNABLE)
    run = optimize(model, tmp_path / "run", rounds=1, candidates=1, max_steps=60_000)
    events = read_run(run.directory)
    decisions = {event.key: event.data for event in events["decision"]}
    assert decisions["r1.tuning_time"] == 2
    spent = run.data["steps"]["tune"]
    assert 0 < spent < 0.5 * decisions["r1.tuning_steps"]
    monkeypatch.undo()
    again = promptpo.resume(run.directory, llm=ScriptedLLM(model))
    assert again.data["steps"]["tune"] == spent
    assert again.data["best"] == run.data["best"]


def test_patience_grows_with_what_the_round_cost_and_while_there_is_gain() -> None:
    """A minute at least, five times the rest of the round, and longer only while it gains."""
    assert Patience(1.0).seconds == 60.0
    assert Patience(100.0).seconds == 500.0
    assert Patience(1.0).over(61.0, gaining=False)
    assert not Patience(1.0).over(61.0, gaining=True)
    assert Patience(1.0).over(181.0, gaining=True)
    assert Patience(0.0).steps(0.0, 0) is None
    assert Patience(0.0).steps(10.0, 1_000) < 20_000
