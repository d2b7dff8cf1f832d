"""Deciding whether another round is worthwhile."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.core.budget import Ledger
from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.config import Budget, Config
from promptpo.core.history import History
from promptpo.core.journal import Event, Journal
from promptpo.core.sample import Sample, round_event
from promptpo.core.stop import (
    GAIN_APART,
    GAIN_TOGETHER,
    describe_unspent,
    distance,
    early_stop_reason,
    prospect,
    record_round,
)
from promptpo.envs.task import Task
from promptpo.errors import ProviderError
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation


def episodes_of(*returns: float) -> Any:
    """Episodes with these returns."""
    return tuple(EpisodeRecord(n, value, 10) for n, value in enumerate(returns))


def attempt(id_: str, *returns: float, **candidate: Any) -> Attempt:
    """A candidate with these returns."""
    return Attempt(
        Candidate(id_, id_, int(id_[1]), digest=id_, **candidate), Evaluation("ok", episodes_of(*returns), 10)
    )


def history_of(*attempts: Attempt, rounds: int = 2, random: float = 0.0) -> History:
    """A history with these attempts and a random reference."""
    references = {"random": Evaluation("ok", episodes_of(random), 10)}
    return History(list(attempts), rounds=rounds, leader_id=attempts[0].id, reference_evaluations=references)


BEST = attempt("r1c1", *(100.0 + n % 3 for n in range(12)))
NEAR = attempt("r1c2", *(99.5 + n % 3 + (n % 2) / 10 for n in range(12)))
FAR, UNKNOWN = attempt("r2c1", *[60.0, 50.0] * 6), attempt("r2c2", 130.0, 70.0, 99.0)


def test_distance_is_to_the_nearest_independent_program() -> None:
    """Its unit is the leader's gain over random actions; tuned versions and equivalents do not count."""
    assert 0.4 / 100 < distance(history_of(BEST, FAR, NEAR)) < 0.02
    assert distance(history_of(BEST, FAR, NEAR, random=90.0)) > 0.04
    assert distance(history_of(BEST, NEAR, random=110.0)) == math.inf
    tuned = attempt("r1c1t", *(100.1 + n % 3 for n in range(12)), tuned={"a": (1.0, 2.0)}, parents=("r1c1",))
    assert distance(history_of(tuned, BEST)) == math.inf
    assert distance(history_of(BEST, attempt("r1c3", *BEST.evaluation.returns))) == math.inf
    assert distance(History()) == math.inf


def test_distance_is_relative_to_the_best_reference() -> None:
    """The teacher does not count; a leader below the reference has no distance."""
    past = history_of(BEST, NEAR, random=50.0)
    past.reference_evaluations["zero"] = Evaluation("ok", episodes_of(90.0), 10)
    past.reference_evaluations["teacher"] = Evaluation("ok", episodes_of(500.0), 10)
    assert distance(past) == pytest.approx(distance(history_of(BEST, NEAR, random=90.0)))
    assert distance(history_of(BEST, NEAR, random=101.0)) == math.inf
    assert distance(history_of(BEST, NEAR, random=100.5)) < math.inf


def test_distance_uses_the_far_end_of_the_interval() -> None:
    """Noisy means that happen to agree are no reason to stop."""
    close = History([BEST, UNKNOWN], rounds=2)
    assert abs(close.value_difference(BEST, UNKNOWN).mean) < 5
    assert distance(close) > 0.1


@pytest.mark.parametrize(
    ("other", "rounds", "threshold", "expected"),
    [
        (NEAR, 2, None, GAIN_TOGETHER),
        (NEAR, 1, None, GAIN_TOGETHER),
        (NEAR, 2, 200.0, GAIN_APART),
        (FAR, 2, None, GAIN_APART),
        (UNKNOWN, 2, None, GAIN_APART),
    ],
)
def test_run_is_done_when_independent_programs_agree(
    other: Attempt, rounds: int, threshold: float | None, expected: Any
) -> None:
    """A threshold that is not reached shows that more is possible."""
    assert prospect(history_of(BEST, other, rounds=rounds), threshold) is expected


@pytest.mark.parametrize(
    ("stalled", "before", "ceilings", "others", "ends"),
    [
        (1, 0, 2, 1, True),
        (1, 0, 1, 0, False),
        (1, 1, 1, 0, True),
        (1, 1, 1, 1, True),
        (1, 1, 1, 2, False),
        (1, 2, 0, 1, False),
        (0, 0, 2, 0, False),
    ],
)
def test_ceiling_needs_two_answers_and_half_of_a_round(
    stalled: int, before: int, ceilings: int, others: int, ends: bool
) -> None:
    """The round must be without gain."""
    past = history_of(BEST, *(attempt(f"r3c{n}", 1.0) for n in range(others)), attempt("r3c0t", 1.0))
    past.ceiling_reasons = ("it is all earned",) * before
    samples: list[Sample] = [ProviderError("no"), *["the body does no more."] * ceilings]
    data = {"stalled": stalled, "reflection": "", **round_event(samples)}
    past.add(Event(0, 0.0, "round", "r3", data))
    assert past.ceiling == ("the body does no more" if ends else "")
    assert (len(past.ceiling_reasons), past.answers) == (ceilings, ceilings + others)


def context_with(*, rounds: int = 5, steps: int | None = 1000, spent: int = 0, **more: Any) -> Any:
    """A search context with `spent` steps spent."""
    config = Config(
        Task("X-v0"), budget=Budget(rounds=rounds, steps=steps), recipe=more.pop("recipe", "default")
    )
    config = replace(config, recipe_options=more.pop("options", {}))
    ledger = Ledger(config.budget, [Event(0, 0.0, "evaluation", "a", {"spent": {"train": spent}})])
    values = {"threshold": None, "learns": True, "config": config, "work": SimpleNamespace(ledger=ledger)}
    return SimpleNamespace(**{**values, **more})


@pytest.mark.parametrize(
    ("given", "past", "kind"),
    [
        ({}, {}, ""),
        ({"threshold": 100.0}, {}, "solved"),
        ({"threshold": 101.0}, {}, "solved"),
        ({"threshold": 101.5}, {}, ""),
        ({"threshold": 100.0, "options": {"early_stop": False}}, {}, ""),
        ({}, {"ceiling": "it is all earned"}, "ceiling"),
        ({"rounds": 3}, {"ceiling": "it is all earned"}, "ceiling"),
        ({"rounds": 2}, {"ceiling": "it is all earned"}, ""),
        ({"learns": False}, {"stalled": 1}, ""),
        ({"learns": False}, {"stalled": 2}, "stalled"),
        ({}, {"stalled": 2}, ""),
    ],
)
def test_early_stop_reason(given: Any, past: Any, kind: str) -> None:
    """The end of the rounds alone is not an early stop."""
    searched = history_of(BEST)
    for name, value in past.items():
        setattr(searched, name, value)
    reason = early_stop_reason(context_with(**given), searched)
    assert (reason.kind if reason else "") == kind


def test_the_models_reason_is_shortened() -> None:
    """It stands in one line with the rest of the stop reason."""
    searched = history_of(BEST)
    searched.ceiling = "every reward is earned, " * 100
    assert len(str(early_stop_reason(context_with(), searched))) < 300


def test_agreeing_programs_end_a_language_models_search() -> None:
    """The reason states the prospect of another round."""
    reason = early_stop_reason(context_with(), history_of(BEST, NEAR))
    assert reason
    assert reason.kind == "no_gain"
    assert GAIN_TOGETHER in reason.sentence
    assert not early_stop_reason(context_with(learns=False), history_of(BEST, NEAR))


@pytest.mark.parametrize(
    ("rounds", "learns", "has_prospect"), [(4, True, True), (3, True, False), (4, False, False)]
)
def test_round_records_the_prospect_of_the_next(
    rounds: int, learns: bool, has_prospect: bool, tmp_path: Path
) -> None:
    """There must be a next round and a language model to ask."""
    past, given = history_of(BEST), context_with(rounds=rounds, learns=learns)
    given.journal = Journal(tmp_path)
    given.journal.follow(past.add)
    record_round(given, past, [BEST], None, "well", {"untuned": "no"})
    data = given.journal.find("round", "r3")
    assert ("prospect" in data, data["untuned"], data["reflection"]) == (has_prospect, "no", "well")
    assert (past.rounds, past.reflections) == (3, ["well"])


@pytest.mark.parametrize(
    ("best", "given", "why", "words"),
    [
        (
            BEST,
            {"spent": 800},
            "nobody wants them",
            "200 of 1,000 steps are left: nobody wants them, and more episodes",
        ),
        (BEST, {"spent": 800}, "", "are left: more episodes are not expected"),
        (BEST, {"spent": 800, "threshold": 100.0}, "nobody wants them", "left: the threshold is reached"),
        (BEST, {"spent": 801}, "", ""),
        (BEST, {"learns": False}, "", ""),
        (BEST, {"steps": None}, "", ""),
        (None, {}, "", ""),
    ],
)
def test_unspent_steps_are_explained(best: Attempt | None, given: Any, why: str, words: str) -> None:
    """At least a fifth must be left, a language model must have been asked, and something must have run."""
    text = describe_unspent(context_with(**given), history_of(best) if best else History(), why)
    assert words in text
    assert bool(text) == bool(words)
