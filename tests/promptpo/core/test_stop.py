"""When another round is worth it."""

import math
from typing import Any

import pytest

from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.history import History
from promptpo.core.journal import Event
from promptpo.core.sample import Ceiling, Sample, Unanswered, round_event
from promptpo.core.stop import APART, TOGETHER, distance, prospect
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
    """In shares of what the best earns above random actions; not its own text with other numbers, nor the same behaviour."""
    assert 0.4 / 100 < distance(history(BEST, FAR, NEAR)) < 0.02
    assert distance(history(BEST, FAR, NEAR, random=90.0)) > 0.04
    assert distance(history(BEST, NEAR, random=110.0)) == math.inf
    tuned = attempt("r1c1t", *(100.1 + n % 3 for n in range(12)), tuned={"a": (1.0, 2.0)}, parents=("r1c1",))
    assert distance(history(tuned, BEST)) == math.inf
    assert distance(history(BEST, attempt("r1c3", *BEST.evaluation.returns))) == math.inf
    assert distance(History()) == math.inf


def test_what_is_not_known_is_not_equal() -> None:
    """Means that happen to agree over few noisy episodes are no reason to stop: the far end of the interval counts."""
    close = History([BEST, UNKNOWN], rounds=2)
    assert abs(close.difference(BEST, UNKNOWN).mean) < 5
    assert distance(close) > 0.1


@pytest.mark.parametrize(
    ("other", "rounds", "threshold", "found"),
    [
        (NEAR, 2, None, TOGETHER),
        (NEAR, 1, None, TOGETHER),
        (NEAR, 2, 200.0, APART),
        (FAR, 2, None, APART),
        (UNKNOWN, 2, None, APART),
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
    samples: list[Sample] = [Unanswered("no"), *[Ceiling("the body does no more.")] * voices]
    data = {"stalled": stalled, "reflection": "", **round_event(samples)}
    past.add(Event(0, 0.0, "round", "r3", data))
    assert past.ceiling == ("the body does no more" if ends else "")
    assert (len(past.ceiling_reasons), past.answers) == (voices, voices + others)
