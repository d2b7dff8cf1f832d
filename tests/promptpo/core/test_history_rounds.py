"""The history's conclusions at the end of a round: ceilings, duplicates and economy."""

from __future__ import annotations

import pytest

from promptpo.core.candidate import Attempt, Candidate, RoundEnd
from promptpo.core.history import History, duplicate_remarks
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from tests.promptpo.core.test_history import attempt, event


def history_after(*rounds: tuple[int, int, int]) -> History:
    """A history of rounds, each with numbers of policies, ceiling answers and rounds without gain."""
    past = History()
    for number, (policies, ceilings, stalled) in enumerate(rounds, 1):
        for n in range(policies):
            made = attempt(f"r{number}c{n + 1}", 1.0)
            past.add(event("attempt", made.id, made))
        reasons = {str(n): f"Nothing is left to gain in {n}." for n in range(ceilings)}
        past.add(event("round", f"r{number}", RoundEnd(stalled, ceiling=reasons)))
    return past


@pytest.mark.parametrize(
    ("rounds", "ceiling"),
    [
        ([(2, 2, 1)], "Nothing is left to gain in 0"),
        ([(3, 2, 1)], ""),  # fewer than half
        ([(2, 2, 0)], ""),  # the round has gained
        ([(1, 1, 1)], ""),  # one answer is too few
        ([(3, 1, 0), (1, 1, 1)], "Nothing is left to gain in 0"),  # with one of the round before
        ([(0, 1, 1), (2, 0, 2)], ""),  # none in the round itself
        ([(2, 0, 1)], ""),
    ],
)
def test_ceiling_needs_half_of_the_answers_and_two_in_two_rounds(
    rounds: list[tuple[int, int, int]], ceiling: str
) -> None:
    """The round must be without gain; the first reason is kept."""
    past = history_after(*rounds)
    assert past.ceiling == ceiling
    assert past.answers == sum(rounds[-1][:2])
    assert past.rounds == len(rounds)
    assert past.stalled == rounds[-1][2]


def test_only_model_answers_are_counted() -> None:
    """Tuned programs and those of features are not answers."""
    past = history_after((2, 2, 1))
    assert past.answers == 4
    past = History()
    for id_ in ("r1c1", "r1c1t", "s1"):
        made = Attempt(Candidate(id_, id_, 1, digest=id_), Evaluation("ok", (), 0))
        past.add(event("attempt", id_, made))
    past.add(event("round", "r1", RoundEnd(1)))
    assert past.answers == 1


def test_each_duplicate_is_remarked_on_once() -> None:
    """The original, programs without a digest and known duplicates get no remark."""
    one, two, other = attempt("r1c1", 1.0, source="a"), attempt("r1c2", 1.0, source="a"), attempt("r1c3", 1.0)
    bare = [Attempt(Candidate(name, "a", 1, digest=""), Evaluation("ok", (), 0)) for name in ("r1c4", "r1c5")]
    known = Attempt(Candidate("r1c6", "a", 1, digest="a", duplicate_of="r1c1"), Evaluation("ok", (), 0))
    remarks = duplicate_remarks([one, two, other, *bare, known])
    assert [(remark.candidate, remark.duplicate_of) for remark in remarks] == [("r1c2", "r1c1")]


def attempt_with_steps(id_: str, steps: int, *, of: int) -> Attempt:
    """An attempt with `of` episodes of `steps` steps each."""
    episodes = tuple(EpisodeRecord(n, 5.0, steps) for n in range(of))
    return Attempt(Candidate(id_, id_, 1, digest=id_), Evaluation("ok", episodes, steps * of))


def test_economy_is_steps_per_episode() -> None:
    single, pair = attempt_with_steps("r1c1", 60, of=1), attempt_with_steps("r1c2", 50, of=2)
    assert [attempt.id for attempt in History([single, pair]).ranking()] == ["r1c2", "r1c1"]
