"""In which respect a program is to be improved."""

from typing import Any

import pytest

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.records import Attempt, Candidate
from promptpo.search.history import History
from promptpo.search.respects import merger, respects
from promptpo.search.strategies import Asked


def heads(*episodes: Any, source: str = "pass") -> Any:
    """The respects that episodes of (return, steps, success) suggest, by their first word; one is always there."""
    records = tuple(
        EpisodeRecord(n, float(r), steps, success) for n, (r, steps, success) in enumerate(episodes)
    )
    attempt = Attempt(Candidate("r1c1", source, 1), Evaluation("ok", records, 10))
    found = [text.split(":")[0] for text in respects(History([attempt]), attempt)]
    return [head for head in found if head != "Weakest part"]


@pytest.mark.parametrize(
    ("episodes", "found"),
    [
        ([(5, 10, None)] * 4, ["Level"]),
        ([(1, 10, True), (0, 10, False), (1, 10, True)], ["Success", "Robustness", "Level"]),
        ([(-10, 10, None), (-20, 20, None), (-30, 30, None)], ["Speed", "Level"]),
        ([(10, 10, None), (20, 20, None), (30, 30, None)], ["Lasting longer", "Level"]),
        ([(2242, 9, None), (2274, 9, None), (2337, 9, None), (2261, 9, None)], ["Level"]),
        ([(2242, 9, None), (-31, 9, None), (2337, 9, None), (2261, 9, None)], ["Robustness", "Level"]),
        ([(-91, 115, None), (-92, 118, None), (-93, 121, None)], ["Level"]),
        ([(7, 10, None)], ["Level"]),
    ],
)
def test_the_evidence_suggests_the_respect(episodes: Any, found: Any) -> None:
    """Failures, starts far below the rest and no mere spread, length where it is related; the level always."""
    assert heads(*episodes) == found


@pytest.mark.parametrize(("nothing", "asked"), [(-40.0, True), (-19.0, False)])
def test_speed_is_for_those_who_achieve_something(nothing: float, asked: bool) -> None:
    """Of a program that earns no more than doing nothing, the short episodes are the failed ones."""
    records = tuple(EpisodeRecord(n, -10.0 * n, 10 * n) for n in (1, 2, 3))
    attempt = Attempt(Candidate("r1c1", "pass", 1), Evaluation("ok", records, 10))
    zero = Evidence.of(tuple(EpisodeRecord(n, nothing, 10) for n in range(3)))
    found = respects(History([attempt], references={"zero": zero}), attempt)
    assert any(text.startswith("Speed: ") for text in found) == asked


def test_no_start_is_bad_where_all_are_the_same() -> None:
    """What differs between episodes that begin alike is chance, and nothing is special about a bad one."""
    records = tuple(EpisodeRecord(n, float(r), 9) for n, r in enumerate((2242, -31, 2337, 2261)))
    attempt = Attempt(Candidate("r1c1", "pass", 1), Evaluation("ok", records, 10))
    found = [
        [text.split(":")[0] for text in respects(History([attempt]), attempt, one_start=one)]
        for one in (False, True)
    ]
    assert "Robustness" in found[0]
    assert "Robustness" not in found[1]
    assert found[1]


def test_long_programs_are_to_become_simpler() -> None:
    """Half of the lines."""
    assert heads((5, 10, None), source="x = 1\n" * 1000)[-1] == "Simplicity"


def test_programs_that_behave_nearly_alike_are_not_merged() -> None:
    """Each is better on some starts, by chance and by little; a program that saves a bad start has something to give."""

    def attempt(id_: Any, *returns: Any) -> Any:
        records = tuple(EpisodeRecord(n, r, 10) for n, r in enumerate(returns))
        return Attempt(Candidate(id_, id_, 1), Evaluation("ok", records, 10))

    one = attempt("r1c1", 2242.0, 2274.0, 2337.0, 2239.0)
    copy, other = attempt("r1c2", 2272.0, 2280.0, 2180.0, 2297.0), attempt("r1c3", 100.0, 200.0, 90.0, 4000.0)
    past = History([one, copy, other])
    assert merger(past, one, copy) == ""
    assert "r1c3 is better than r1c1 on 1" in merger(past, one, other)


def test_where_most_episodes_fall_nobody_is_told_to_leave_the_bad_ones_alone() -> None:
    """Then the end, or what is earned until then, is what limits them; else it is what the good ones earn."""

    def level(*ends: bool) -> str:
        records = tuple(EpisodeRecord(n, -90.0 - n, 100, terminated=end) for n, end in enumerate(ends))
        attempt = Attempt(Candidate("r1c1", "pass", 1), Evaluation("ok", records, 10))
        [text] = [text for text in respects(History([attempt]), attempt) if text.startswith("Level")]
        return text

    assert "2 of 3 end before their time is up" in level(True, True, False)
    assert "the good ones too" in level(True, False, False)


def test_an_end_that_is_paid_for_limits_nothing() -> None:
    """Where one step earns all of an episode, as success does, its end is what is wanted."""
    records = tuple(
        EpisodeRecord(n, earned, 30 + n, terminated=True, extremes=(0.0, earned))
        for n, earned in enumerate((0.9, 0.9, 0.8))
    )
    attempt = Attempt(Candidate("r1c1", "pass", 1), Evaluation("ok", records, 10))
    [text] = [text for text in respects(History([attempt]), attempt) if text.startswith("Level")]
    assert "before their time is up" not in text
    assert "every episode shall earn more" in text


@pytest.mark.parametrize(
    ("second", "broke"), [((1900.0, -400.0, 1950.0), True), ((1900.0, 1890.0, 1950.0), False)]
)
def test_what_became_of_the_last_attempt_at_more_is_told(second: tuple[float, ...], broke: bool) -> None:
    """And where the last two broke down nobody is told to leave bad starts alone."""

    def attempt(id_: str, returns: tuple[float, ...]) -> Attempt:
        records = tuple(EpisodeRecord(n, r, 1000) for n, r in enumerate(returns, 1))
        return Attempt(Candidate(id_, id_, int(id_[1])), Evaluation("ok", records, 10))

    leader = attempt("r1c1", (1940.0, 1913.0, 1915.0))
    past = History([leader, attempt("r2c1", (-444.0, 1661.0, -316.0)), attempt("r3c1", second)], rounds=3)
    past.asked = {id_: Asked("improve", "r1c1", "", "Level") for id_ in ("r2c1", "r3c1")}
    [text] = [text for text in respects(past, leader) if text.startswith("Level")]
    assert f"The last attempt at this, r3c1, returned 1900, {second[1]:.0f}, 1950: " in text
    assert ("mending the bad ones" in text) is not broke
    assert ("The last two attempts broke down" in text) is broke


def _asked(*others: tuple[str, tuple[float, ...]]) -> str:
    """What is asked about the bad starts 3 and 4 of a leader, where others have these returns."""

    def attempt(id_: str, returns: tuple[float, ...]) -> Attempt:
        records = tuple(EpisodeRecord(n, r, 10) for n, r in enumerate(returns, 1))
        return Attempt(Candidate(id_, id_, 1), Evaluation("ok", records, 10))

    leader = attempt("r1c1", (2242.0, 2274.0, -31.0, -40.0, 2337.0, 2261.0))
    past = History([leader, *(attempt(*other) for other in others)])
    [text] = [text for text in respects(past, leader) if text.startswith("Robustness")]
    return text


def test_a_start_that_is_bad_for_every_program_is_told_as_that() -> None:
    """Not as what is wrong with one; a program that is bad everywhere says nothing of a start."""
    poor = ("r1c3", (10.0, 20.0, -31.0, -40.0, 15.0, 30.0))
    assert "bad there too" not in _asked(poor)
    same = ("r1c2", (2200.0, 2150.0, -35.0, -38.0, 2100.0, 2180.0))
    text = _asked(same, poor)
    assert "Every program of its level that played them is bad there too" in text
    assert "3 (-31), " in text or "4 (-40), " in text


def test_starts_on_which_another_did_better_come_first() -> None:
    """With who, and how much."""
    other = ("r1c2", (2200.0, 2150.0, -35.0, 2100.0, 2050.0, 2180.0))
    text = _asked(other)
    assert "4 (-40; r1c2 earns 2140 more)." in text
    assert "Every program of its level is bad on start 3 (-31)." in text


def test_a_program_that_fell_early_and_earned_far_more_per_step_is_to_be_mended() -> None:
    """One request of a round asks for that, before others; one that lasts is nothing to mend."""

    def one(id_: str, return_: float, steps: int, *, ended: bool) -> Attempt:
        records = tuple(EpisodeRecord(n, return_ + n, steps, terminated=ended) for n in range(4))
        return Attempt(Candidate(id_, f"x = '{id_}'\n", 1), Evaluation("ok", records, 4 * steps))

    slow, quick = one("r1c1", 1000.0, 1000, ended=False), one("r1c2", 900.0, 90, ended=True)
    [text] = [t for t in respects(History([slow, quick]), slow) if t.startswith("Mending")]
    assert "r1c2 ended early" in text
    lasting = one("r1c2", 900.0, 900, ended=False)
    assert not any(t.startswith("Mending") for t in respects(History([slow, lasting]), slow))
