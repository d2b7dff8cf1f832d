"""The history of a search: its leader, ranking, duplicates and standing."""

import math
import statistics
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.core.candidate import Attempt, Candidate, Remark
from promptpo.core.config import Config
from promptpo.core.history import ALWAYS, History, duplicate_remarks
from promptpo.core.journal import Event, Journal, to_json
from promptpo.envs.task import Task
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.state import RunState


def event(kind: Any, key: str, value: Any) -> Event:
    """Return an event as a journal holds it."""
    return Event(0, 0.0, kind, key, value if isinstance(value, dict) else to_json(value))


def evaluation(*returns: Any, start: int = 0, outcome: str = "ok", success: Any = None) -> Any:
    """An evaluation with these returns."""
    episodes = tuple(EpisodeRecord(start + i, value, 10, success) for i, value in enumerate(returns))
    return Evaluation(outcome, episodes, 10 * len(returns), error="" if outcome == "ok" else "it broke")


def attempt(id_: Any, *returns: Any, source: Any = None, **more: Any) -> Any:
    """Return an attempt of the round that its id names."""
    source = source or f"# {id_}"
    return Attempt(
        Candidate(id_, source, int(id_[1 : id_.index("c")]), digest=source), evaluation(*returns, **more)
    )


def replay(journal: Journal) -> History:
    """Return the history replayed from a journal."""
    return RunState.of(Config(Task("CartPole-v1")), journal.events).history


def test_leader_is_chosen_on_all_episodes() -> None:
    """Neither the latest round nor the best training score decides alone."""
    lucky, steady = attempt("r1c1", 50.0, 51.0), attempt("r2c1", 49.0, 50.5)
    past = History([lucky, steady], rounds=2)
    past.validations = {
        "# r1c1": [evaluation(10.0, 12.0, 11.0, start=900)],
        "# r2c1": [evaluation(40.0, 42.0, 41.0, start=900)],
    }
    assert past.best().id == "r2c1"
    assert past.evidence(steady).mean_return == pytest.approx((49 + 50.5 + 40 + 42 + 41) / 5, abs=3)
    assert past.evidence(steady).mean_return == past.returns.of("# r2c1").mean


def test_few_lucky_episodes_do_not_outrank_many() -> None:
    """Candidates are compared on the seeds that both have played."""
    often, once = attempt("r1c1", 315.0, 316.0), attempt("r2c1", 300.0, 303.0)
    past = History([often, once])
    past.validations = {"# r1c1": [evaluation(200.0, 210.0, 205.0, start=900)]}
    assert statistics.fmean(past.evidence(often).returns) < statistics.fmean(past.evidence(once).returns)
    assert past.evidence(often).mean_return > past.evidence(once).mean_return
    assert past.best().id == "r1c1"
    assert [a.id for a in past.ranking()] == ["r1c1", "r2c1"]


def test_nan_return_is_never_best() -> None:
    past = History([attempt("r1c1", math.nan), attempt("r1c2", -1000.0), attempt("r1c3", 10.0)])
    past.validations = {"# r1c3": [evaluation(math.nan, start=900)]}
    assert past.best().id == "r1c2"
    assert [a.id for a in past.ranking()] == ["r1c2"]


def test_ties_go_to_fewer_steps_then_shorter_code() -> None:
    slow = Attempt(Candidate("r1c1", "x" * 10, 1), Evaluation("ok", (EpisodeRecord(0, 1.0, 50),), 50))
    fast = Attempt(Candidate("r1c2", "x" * 90, 1), Evaluation("ok", (EpisodeRecord(0, 1.0, 5),), 5))
    short = replace(fast, candidate=Candidate("r1c3", "x", 1))
    assert [a.id for a in History([slow, fast, short]).ranking()] == ["r1c3"]
    assert [a.id for a in History([slow, fast]).ranking()] == ["r1c2"]


def test_equivalents_are_ranked_once() -> None:
    past = History(
        [attempt("r1c1", 2.0, source="same"), attempt("r1c2", 2.0, source="same"), attempt("r1c3", 1.0)]
    )
    assert len(past.ranking()) == 2


def test_first_slot_is_the_original_of_duplicates() -> None:
    """The order in which answers arrive does not matter."""
    past = History()
    for id_ in ("r1c3", "r1c1"):
        past.add(event("attempt", id_, attempt(id_, 2.0, source="same")))
    assert duplicate_remarks(past.of_round(1)) == [Remark("r1c3", duplicate_of="r1c1")]
    past.add(event("remark", "r1c3.duplicate", Remark("r1c3", duplicate_of="r1c1")))
    first, second = past.of_round(1)
    assert (first.id, first.candidate.duplicate_of) == ("r1c1", None)
    assert (second.id, second.candidate.duplicate_of) == ("r1c3", "r1c1")
    assert not duplicate_remarks([first, second])


def test_equivalent_candidates_are_grouped() -> None:
    """The one with most episodes represents them, then the shortest."""
    long, short = attempt("r1c1", 1.0, 2.0, source="x" * 50), attempt("r1c2", 1.0, 2.0, source="y")
    other = attempt("r1c3", 1.0, 3.0)
    assert History([long, short, other]).equivalents == {"r1c1": "r1c2"}
    validations = {"x" * 50: [evaluation(5.0, start=900)]}
    assert History([long, short, other], validations).equivalents == {"r1c2": "r1c1"}


def test_gain_within_noise_leaves_the_search_stalled() -> None:
    old, same = attempt("r1c1", 10.0, 20.0, 30.0), attempt("r2c1", 11.0, 19.0, 31.5)
    past = History([old])
    past.add(event("round", "r1", {**past.standing(None), "reflection": ""}))
    assert (past.rounds, past.stalled) == (1, 0)
    past.add(event("attempt", "r2c1", same))
    past.add(event("round", "r2", {**past.standing(old), "reflection": ""}))
    assert (past.rounds, past.stalled) == (2, 1)
    past.add(event("attempt", "r3c1", attempt("r3c1", 20.0, 30.0, 41.0)))
    assert past.standing(same)["stalled"] == 0


def test_clearly_better_candidate_leads_even_if_unreviewed(tmp_path: Path) -> None:
    """An earlier leader does not stay in front by default."""
    old, new = attempt("r1c1", 79.0, 80.0, 81.0), attempt("r1c1t", 338.0, 340.0, 342.0)
    with Journal(tmp_path) as journal:
        for each in (old, new):
            journal.add("attempt", each.id, each)
        for name, value in (("# r1c1", 78.0), ("# r1c1t", 341.0)):
            journal.add(
                "validation",
                f"{name}.900+1",
                {"evaluation": to_json(evaluation(value, start=900)), "spent": {}},
            )
        past = replay(journal)
        journal.follow(past.add)
        past.leader_id = "r1c1"
        past.announce_leader(journal)
    assert past.best().id == "r1c1t"
    assert past.evidence(new).mean_return == pytest.approx((338 + 340 + 342 + 341) / 4, rel=0.01)
    assert past.evidence(old).returns == (79.0, 80.0, 81.0, 78.0)
    assert past.changes[0].startswith("r1c1t takes the lead from r1c1: +26")


def test_occasional_catastrophe_ranks_last() -> None:
    """Its large variance must not shrink its estimate to the others' mean."""
    steady = [attempt(f"r1c{n}", 14.0 + n / 10, 15.0, 14.0) for n in range(1, 5)]
    past = History([attempt("r1c9", -100_009.0, 12.0), *steady])
    assert past.ranking()[-1].id == "r1c9"


def test_change_of_leader_is_recorded_once(tmp_path: Path) -> None:
    """Replaying the journal gives the same leader and changes."""
    one, other = attempt("r1c1", 1.0, 2.0), attempt("r1c2", 3.0, 4.0)
    with Journal(tmp_path) as journal:
        for past in (History([one]), History([one])):
            journal.follow(past.add)
            past.announce_leader(journal)
            past.announce_leader(journal)
            past.add(event("attempt", "r1c2", other))
            past.announce_leader(journal)
        found = replay(journal)
        assert [each.key for each in journal.events] == ["r1.0.r1c1", "r1.1.r1c2"]
    assert (found.leader_id, found.changes) == (past.leader_id, past.changes)
    assert past.changes[0].startswith("r1c2 takes the lead from r1c1: +2")


def test_change_of_leader_states_its_probability(tmp_path: Path) -> None:
    """The printed numbers come from the same model that decided."""
    past = History([attempt("r1c1", 10.0, 20.0, 30.0, 25.0)], leader_id="r1c1")
    past.add(event("attempt", "r2c1", attempt("r2c1", 12.0, 19.0, 33.0, 26.0)))
    new, old = past.best(), past.find("r1c1")
    assert (new.id, past.value_difference(new, old).mean > 0) == ("r2c1", True)
    likely = past.chances
    assert likely["r2c1"] > likely["r1c1"]
    with Journal(tmp_path) as journal:
        journal.follow(past.add)
        past.announce_leader(journal)
    assert f"the best with probability {likely['r2c1']:.0%}" in past.changes[0]


@pytest.mark.parametrize(("lead", "stalled"), [(0.9, 4), (1.0, 4), (1.1, 0)])
def test_gain_requires_a_lead_above_its_standard_error(
    lead: float, stalled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first candidate that runs counts as a gain; a leader that no longer runs does not."""
    old, new = attempt("r1c1", 10.0, 20.0, 30.0), attempt("r2c1", 40.0, 50.0, 60.0)
    past = History([old, new], stalled=3)
    monkeypatch.setattr(
        History, "value_difference", lambda *_: SimpleNamespace(mean=lead, standard_error=1.0)
    )
    monkeypatch.setattr(History, "best", lambda _: new)
    assert past.standing(old) == {"best": "r2c1", "stalled": stalled}
    assert past.standing(None)["stalled"] == 0
    monkeypatch.setattr(History, "runs", lambda *_: False)
    assert past.standing(old)["stalled"] == 4
    monkeypatch.setattr(History, "best", lambda _: None)
    assert past.standing(None) == {"best": None, "stalled": 4}


def test_references_are_completed_rollouts_of_named_policies() -> None:
    """Failed ones, those on test seeds and constant actions are left out."""
    spent, past = {"spent": {"reference": 2}}, History()
    ran = {"evaluation": to_json(evaluation(1.0, 2.0)), **spent}
    for kind, key, data in (
        ("reference", "random", ran),
        ("reference", "zero.test", ran),
        ("reference", f"{ALWAYS}3", ran),
        ("reference", "zero", {"evaluation": to_json(evaluation(1.0, outcome="crashed")), **spent}),
        ("reference", "other", {"problem": "it failed"}),
        ("teacher", "watch", ran),
        ("teacher", "problem", {"problem": "it does not load"}),
        ("test", "random", {**ran, "spent": {"test": 2}}),
        ("unfinished", "9", spent),
    ):
        past.add(event(kind, key, data))
    assert set(past.reference_evaluations) == {"random", "zero.test", f"{ALWAYS}3", "zero", "teacher"}
    assert set(past.references) == {"random", "teacher"}
    assert past.references["random"].mean_return == pytest.approx(1.5)


def test_attempts_are_ordered_by_round_and_slot() -> None:
    """Tuned candidates follow the others of their round."""
    past, ids = History(), ["r2c1", "r1c2t", "r1c10", "r1c2", "s1", "r1c1", "r0c1", "r1c1tt"]
    for id_ in ids:
        round_ = 0 if id_ == "s1" else int(id_[1])
        past.add(event("attempt", id_, Attempt(Candidate(id_, id_, round_, digest=id_), evaluation(1.0))))
    found = [each.id for each in past.attempts]
    assert found == ["s1", "r0c1", "r1c1", "r1c2", "r1c10", "r1c2t", "r1c1tt", "r2c1"]


def test_change_on_single_episodes_states_no_uncertainty(tmp_path: Path) -> None:
    """A standard error and a probability need several episodes of both."""
    changes = []
    for name, more in (("one", ()), ("two", (3.5,))):
        (tmp_path / name).mkdir()
        with Journal(tmp_path / name) as journal:
            for one in (attempt("r1c1", 1.0, *more), attempt("r1c2", 2.5, *more, start=0)):
                journal.add("attempt", one.id, one)
                replay(journal).announce_leader(journal)
            changes += replay(journal).changes
    single, several = changes
    assert "±" not in single
    assert "%" not in single
    assert "±" in several
    assert "%" in several


@pytest.mark.parametrize(
    ("likely", "second"),
    [
        ((0.9, 0.04, 0.06), "r1c3"),
        ((0.6, 0.3, 0.1), "r1c2"),
        ((0.96, 0.02, 0.02), None),
        ((1.0, 0.0, 0.0), None),
    ],
)
def test_runner_up_is_likely_enough_to_be_best(likely: tuple[float, ...], second: str | None) -> None:
    """The second-highest mean alone does not suffice."""
    past = History([attempt(f"r1c{n}", 10.0 * (9 - n), 20.0) for n in (1, 2, 3)])
    found = dict(zip(("r1c1", "r1c2", "r1c3"), likely, strict=True))
    past.chances = found
    runner_up = past.runner_up()
    assert (runner_up and runner_up.id) == second
    past.chances = {"r1c1": 1.0}
    assert past.runner_up() is None


@pytest.mark.parametrize(("threshold", "reached"), [(None, False), (19.9, True), (20.0, True), (20.1, False)])
def test_threshold_is_inclusive(threshold: float | None, reached: bool) -> None:
    assert History([attempt("r1c1", 20.0, 20.0, 20.0)]).reaches(threshold) is reached
    assert not History().reaches(threshold)


def test_reaching_the_threshold_in_training_calls_for_validation() -> None:
    """After a leader that failed validation, more is required; failed candidates never count."""
    leader, equal, more = attempt("r1c1", 30.0), attempt("r2c1", 30.0), attempt("r2c2", 30.1)
    assert History().reaches_in_training(30.0, [equal])
    assert not History().reaches_in_training(30.1, [equal])
    assert not History().reaches_in_training(None, [equal])
    past = History([leader])
    past.validations = {"# r1c1": [evaluation(1.0, 2.0, start=900)]}
    assert past.reaches_in_training(20.0, [more])
    assert not past.reaches_in_training(20.0, [equal])
    assert not past.reaches_in_training(20.0, [attempt("r2c3", 90.0, outcome="crashed")])


def test_change_compares_success_rates_if_both_are_known() -> None:
    new, old = attempt("r1c2", 3.0, 4.0, success=True), attempt("r1c1", 1.0, 2.0, success=False)
    assert "success 100% against 0%" in History([old, new])._change(new, old)
    assert "success" not in History([attempt("r1c1", 1.0), attempt("r1c2", 2.0)])._change(
        attempt("r1c2", 2.0), attempt("r1c1", 1.0)
    )
    plain = attempt("r1c3", 0.0, 1.0)
    change = History([plain, new])._change(new, plain)
    assert "success 100%" in change
    assert "against" not in change
