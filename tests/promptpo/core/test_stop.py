"""When another round is worth it."""

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


def evidence(*returns: float) -> Any:
    """Episodes with these returns."""
    return tuple(EpisodeRecord(n, one, 10) for n, one in enumerate(returns))


def attempt(id_: str, *returns: float, **candidate: Any) -> Attempt:
    """A candidate with these returns."""
    return Attempt(
        Candidate(id_, id_, int(id_[1]), digest=id_, **candidate), Evaluation("ok", evidence(*returns), 10)
    )


def history(*attempts: Attempt, rounds: int = 2, random: float = 0.0) -> History:
    """After two rounds."""
    marks = {"random": Evaluation("ok", evidence(random), 10)}
    return History(list(attempts), rounds=rounds, leader_id=attempts[0].id, reference_evaluations=marks)


BEST = attempt("r1c1", *(100.0 + n % 3 for n in range(12)))
NEAR = attempt("r1c2", *(99.5 + n % 3 + (n % 2) / 10 for n in range(12)))
FAR, UNKNOWN = attempt("r2c1", *[60.0, 50.0] * 6), attempt("r2c2", 130.0, 70.0, 99.0)


def test_the_nearest_program_that_was_written_apart_counts() -> None:
    """In shares of what the best returns above random actions; not its own text with other numbers, nor the same behaviour."""
    assert 0.4 / 100 < distance(history(BEST, FAR, NEAR)) < 0.02
    assert distance(history(BEST, FAR, NEAR, random=90.0)) > 0.04
    assert distance(history(BEST, NEAR, random=110.0)) == math.inf
    tuned = attempt("r1c1t", *(100.1 + n % 3 for n in range(12)), tuned={"a": (1.0, 2.0)}, parents=("r1c1",))
    assert distance(history(tuned, BEST)) == math.inf
    assert distance(history(BEST, attempt("r1c3", *BEST.evaluation.returns))) == math.inf
    assert distance(History()) == math.inf


def test_the_best_reference_is_what_is_earned_anyway() -> None:
    """Of random actions and of none; a best that is no better than that is near nothing."""
    past = history(BEST, NEAR, random=50.0)
    past.reference_evaluations["zero"] = Evaluation("ok", evidence(90.0), 10)
    past.reference_evaluations["teacher"] = Evaluation("ok", evidence(500.0), 10)
    assert distance(past) == pytest.approx(distance(history(BEST, NEAR, random=90.0)))
    assert distance(history(BEST, NEAR, random=101.0)) == math.inf
    assert distance(history(BEST, NEAR, random=100.5)) < math.inf


def test_what_is_not_known_is_not_equal() -> None:
    """Means that happen to agree over few noisy episodes are no reason to stop: the far end of the interval counts."""
    close = History([BEST, UNKNOWN], rounds=2)
    assert abs(close.difference(BEST, UNKNOWN).mean) < 5
    assert distance(close) > 0.1


@pytest.mark.parametrize(
    ("other", "rounds", "threshold", "found"),
    [
        (NEAR, 2, None, GAIN_TOGETHER),
        (NEAR, 1, None, GAIN_TOGETHER),
        (NEAR, 2, 200.0, GAIN_APART),
        (FAR, 2, None, GAIN_APART),
        (UNKNOWN, 2, None, GAIN_APART),
    ],
)
def test_a_run_is_done_when_programs_have_come_together(
    other: Attempt, rounds: int, threshold: float | None, found: Any
) -> None:
    """After any round, but not below a threshold, which says that more can be had."""
    assert prospect(history(BEST, other, rounds=rounds), threshold) is found


@pytest.mark.parametrize(
    ("stalled", "before", "voices", "others", "ends"),
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
def test_two_voices_and_half_of_a_round_say_that_it_is_done(
    stalled: int, before: int, voices: int, others: int, ends: bool
) -> None:
    """After a round without gain."""
    past = history(BEST, *(attempt(f"r3c{n}", 1.0) for n in range(others)), attempt("r3c0t", 1.0))
    past.ceiling_reasons = ("it is all earned",) * before
    samples: list[Sample] = [ProviderError("no"), *["the body does no more."] * voices]
    data = {"stalled": stalled, "reflection": "", **round_event(samples)}
    past.add(Event(0, 0.0, "round", "r3", data))
    assert past.ceiling == ("the body does no more" if ends else "")
    assert (len(past.ceiling_reasons), past.answers) == (voices, voices + others)


def context(*, rounds: int = 5, steps: int | None = 1000, spent: int = 0, **more: Any) -> Any:
    """What a search knows, with so many steps spent."""
    config = Config(
        Task("X-v0"), budget=Budget(rounds=rounds, steps=steps), recipe=more.pop("recipe", "default")
    )
    config = replace(config, recipe_options=more.pop("options", {}))
    ledger = Ledger(config.budget, [Event(0, 0.0, "evaluation", "a", {"spent": {"train": spent}})])
    values = {"threshold": None, "learns": True, "config": config, "work": SimpleNamespace(ledger=ledger)}
    return SimpleNamespace(**{**values, **more})


@pytest.mark.parametrize(
    ("known", "past", "kind"),
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
def test_why_a_search_ends_early(known: Any, past: Any, kind: str) -> None:
    """Where it is solved, where the model or two rounds say so, and never where only the rounds are over."""
    found = history(BEST)
    for name, value in past.items():
        setattr(found, name, value)
    assert early_stop_reason(context(**known), found).kind == kind


def test_equal_programs_end_a_search_where_a_model_learns() -> None:
    """What another round brings is in the sentence."""
    reason = early_stop_reason(context(), history(BEST, NEAR))
    assert reason.kind == "no_gain"
    assert GAIN_TOGETHER in reason.sentence
    assert not early_stop_reason(context(learns=False), history(BEST, NEAR))


@pytest.mark.parametrize(("rounds", "learns", "told"), [(4, True, True), (3, True, False), (4, False, False)])
def test_a_round_says_what_the_next_may_bring(rounds: int, learns: bool, told: bool, tmp_path: Path) -> None:
    """Where there is one, and a model to ask."""
    past, known = history(BEST), context(rounds=rounds, learns=learns)
    known.journal = Journal(tmp_path)
    known.journal.follow(past.add)
    record_round(known, past, [BEST], None, "well", {"untuned": "no"})
    data = known.journal.find("round", "r3")
    assert ("prospect" in data, data["untuned"], data["reflection"]) == (told, "no", "well")
    assert (past.rounds, past.reflections) == (3, ["well"])


@pytest.mark.parametrize(
    ("best", "known", "why", "words"),
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
def test_steps_that_are_left_are_explained(best: Attempt | None, known: Any, why: str, words: str) -> None:
    """A fifth of them or more, where a model learns and something ran."""
    told = describe_unspent(context(**known), history(best) if best else History(), why)
    assert words in told
    assert bool(told) == bool(words)
