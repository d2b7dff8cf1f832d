"""What a history concludes at the end of a round: no way to improve, programs that fell early, duplicates, economy."""

from __future__ import annotations

import pytest

from promptpo.core.candidate import Attempt, Candidate, RoundEnd
from promptpo.core.history import History, duplicate_remarks
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from tests.promptpo.core.test_history import attempt, event


def after(*rounds: tuple[int, int, int]) -> History:
    """A history after rounds of so many policies and so many answers that see no way to improve, without gain since so many."""
    past = History()
    for number, (policies, ceilings, stalled) in enumerate(rounds, 1):
        for n in range(policies):
            made = attempt(f"r{number}c{n + 1}", 1.0)
            past.add(event("attempt", made.id, made))
        said = {str(n): f"Nothing is left to gain in {n}." for n in range(ceilings)}
        past.add(event("round", f"r{number}", RoundEnd(stalled, ceiling=said)))
    return past


@pytest.mark.parametrize(
    ("rounds", "ceiling"),
    [
        ([(2, 2, 1)], "Nothing is left to gain in 0; Nothing is left to gain in 1"),
        ([(3, 2, 1)], ""),  # fewer than half
        ([(2, 2, 0)], ""),  # the round has gained
        ([(1, 1, 1)], ""),  # one answer is too few
        ([(3, 1, 0), (1, 1, 1)], "Nothing is left to gain in 0"),  # with one of the round before
        ([(0, 1, 1), (2, 0, 2)], ""),  # none in the round itself
        ([(2, 0, 1)], ""),
    ],
)
def test_half_of_the_answers_and_two_in_two_rounds_see_a_ceiling(
    rounds: list[tuple[int, int, int]], ceiling: str
) -> None:
    """Of a round without gain; what they say is kept."""
    past = after(*rounds)
    assert past.ceiling == ceiling
    assert past.answers == sum(rounds[-1][:2])
    assert past.rounds == len(rounds)
    assert past.stalled == rounds[-1][2]


def test_only_what_was_written_counts_as_an_answer() -> None:
    """What features made of a policy, or added, was not answered by anybody."""
    past = after((2, 2, 1))
    assert past.answers == 4
    past = History()
    for id_ in ("r1c1", "r1c1t", "s1"):
        made = Attempt(Candidate(id_, id_, 1, digest=id_), Evaluation("ok", (), 0))
        past.add(event("attempt", id_, made))
    past.add(event("round", "r1", RoundEnd(1)))
    assert past.answers == 1


def test_a_duplicate_is_remarked_on_once_and_never_on_the_first() -> None:
    """Programs without a digest are their own; one that is known to be a duplicate is passed over."""
    one, two, other = attempt("r1c1", 1.0, source="a"), attempt("r1c2", 1.0, source="a"), attempt("r1c3", 1.0)
    bare = [Attempt(Candidate(name, "a", 1, digest=""), Evaluation("ok", (), 0)) for name in ("r1c4", "r1c5")]
    known = Attempt(Candidate("r1c6", "a", 1, digest="a", duplicate_of="r1c1"), Evaluation("ok", (), 0))
    remarks = duplicate_remarks([one, two, other, *bare, known])
    assert [(remark.candidate, remark.duplicate_of) for remark in remarks] == [("r1c2", "r1c1")]


def played(id_: str, steps: int, *, of: int) -> Attempt:
    """A program with `of` episodes of so many steps."""
    episodes = tuple(EpisodeRecord(n, 5.0, steps) for n in range(of))
    return Attempt(Candidate(id_, id_, 1, digest=id_), Evaluation("ok", episodes, steps * of))


def test_of_equals_the_one_with_shorter_episodes_leads() -> None:
    """Steps of an episode on average, not of all of them."""
    long_, short = played("r1c1", 60, of=2), played("r1c2", 50, of=2)
    best = History([long_, short]).best()
    assert best is not None
    assert best.id == "r1c2"


def test_economy_does_not_depend_on_the_number_of_episodes() -> None:
    """One episode of 60 steps is longer than two of 50."""
    single, pair = played("r1c1", 60, of=1), played("r1c2", 50, of=2)
    assert [attempt.id for attempt in History([single, pair]).ranking()] == ["r1c2", "r1c1"]
