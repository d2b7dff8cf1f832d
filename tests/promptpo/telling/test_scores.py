"""Evidence in words."""

from typing import Any

import pytest

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.records import Attempt, Candidate
from promptpo.search.history import History
from promptpo.telling import scores
from promptpo.telling.feedback import brief, endings, with_noise


def evidence(*returns: Any, success: Any = None, terminated: Any = ()) -> Any:
    """Episodes with these returns."""
    return Evidence(
        tuple(
            EpisodeRecord(seed, value, 10, success, terminated=seed in terminated)
            for seed, value in enumerate(returns)
        )
    )


@pytest.mark.parametrize(
    ("mean", "error", "told"),
    [
        (393.04, 69.13, "393 ± 69"),
        (62.34, 9.57, "62.3 ± 9.6"),
        (-1.0571, 0.4368, "-1.06 ± 0.44"),
        (5.0, 9.96, "5 ± 10"),
        (12345.6, 1234.0, "12346 ± 1234"),
        (-0.001, 1.2, "0.0 ± 1.2"),
        (500.0, 0.0, "500 ± 0"),
        (3.0, float("nan"), "3"),
        (0.5, 1e-7, "0.5 ± 1e-07"),
    ],
)
def test_a_mean_has_the_decimals_of_its_error(mean: float, error: float, told: str) -> None:
    """Digits that noise has made up are not shown, and both end at the same place."""
    assert with_noise(mean, error) == told
    assert with_noise(mean, error, signed=True) == (f"+{told}" if mean > 0 else told)


def test_a_score_is_the_mean_its_error_and_the_number_of_episodes() -> None:
    """One form everywhere."""
    assert scores.score(evidence(1.0, 2.0, 3.0)) == "2 ± 0.58 over 3 episodes"
    assert scores.score(evidence(7.0, success=True)) == "7 over 1 episode, success in 100%"
    assert scores.score(evidence()) == "no finished episode"


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        ((1.0, 2.0, 3.0), (4.0, 5.2, 5.8), "3 ± 0.12 below r1c1 over 3 shared episodes"),
        (
            (1.0, 2.0, 3.0),
            (2.0, 1.0, 3.0),
            "no clear difference from r1c1 (+0 ± 0.58 over 3 shared episodes)",
        ),
        ((1.0, 2.0), (1.0, 2.0), "no difference from r1c1: the same return in all 2 shared episodes"),
        ((1.0,), (0.0,), "1 above r1c1 over 1 shared episode"),
        ((), (0.0,), "no episode shared with r1c1"),
    ],
)
def test_differences_are_paired(mine: Any, theirs: Any, words: str) -> None:
    """By how much, how sure that is, and over how many episodes."""
    assert scores.difference(evidence(*mine).against(evidence(*theirs)), "r1c1") == words


def test_more_successes_at_a_lower_return_are_told() -> None:
    """Success comes first where it differs clearly, so the sentence says it."""
    one, other = evidence(*[1.0] * 9, 1.5, success=True), evidence(*[2.0] * 10, success=False)
    assert scores.difference(one.against(other), "r1c1").endswith("but with more successes")


def attempt(id_: Any, *returns: Any, duplicate_of: Any = None) -> Any:
    """An attempt."""
    candidate = Candidate(id_, f"# {id_}", 1, digest=id_, duplicate_of=duplicate_of)
    return Attempt(candidate, Evaluation("ok", evidence(*returns).episodes, 10))


def test_starts_have_short_names() -> None:
    """Training starts count from 1, validation starts from v1, whatever their seeds."""
    past = History([attempt("r1c1", 1.0, 2.0)])
    look = Evaluation("ok", (EpisodeRecord(10_000_004, 3.0, 5),), 5)
    past.looks["r1c1"] = [look]
    assert dict(scores.starts(past)) == {0: "1", 1: "2", 10_000_004: "v5"}
    assert scores.returns(past.evidence(past.attempts[0]), scores.starts(past)) == (
        "Return by start: 1: 1, 2: 2, v5: 3."
    )


def test_many_returns_are_told_by_quartiles() -> None:
    """More than twenty are not listed."""
    assert "quartiles" in scores.returns(evidence(*map(float, range(21))), {})
    assert "Return by start" in scores.returns(evidence(*map(float, range(20))), {})
    assert scores.returns(evidence(*[5.0] * 30), {}) == "Every episode returned 5."


@pytest.mark.parametrize(
    ("returns", "words"),
    [
        ((298.0, -2.0, 306.0), "1 of 3 starts goes far worse than the median of 298: 2."),
        (
            (10.0, 9.0, 9.5, -40.0, -50.0),
            "2 of 5 starts go far worse than the median of 9: 5, 4.",
        ),
        ((10.0, 9.0, 8.0), ""),
        ((5.0, 5.0, 5.0), ""),
    ],
)
def test_bad_starts_are_named_where_returns_fall_into_two_groups(returns: Any, words: str) -> None:
    """A low tail apart from the rest, and nothing where there is none."""
    names = {seed: str(seed + 1) for seed in range(9)}
    assert scores.bad_starts(evidence(*returns), names) == words


@pytest.mark.parametrize(
    ("terminated", "words"),
    [
        ((0, 1, 2), "all ended by termination"),
        ((), "all lasted until the horizon"),
        ((1,), "1 of 3 ended by termination, the others at the horizon"),
    ],
)
def test_endings_are_true(terminated: Any, words: str) -> None:
    """No "the others" where there are none."""
    assert endings(evidence(1.0, 2.0, 3.0, terminated=terminated).episodes) == f"Length 10 steps; {words}."


def test_candidates_that_behave_alike_are_told_as_one() -> None:
    """The same return in every episode, or the same program."""
    past = History(
        [attempt("r1c1", 1.0, 2.0), attempt("r1c2", 1.0, 2.0), attempt("r1c3", 1.0, 2.0, duplicate_of="r1c1")]
    )
    past.find_alike()
    assert scores.alike(past, past.attempts[1]) == (
        "r1c2 cannot be told from r1c1 (same return in all 2 shared episodes)"
    )
    assert scores.alike(past, past.attempts[2]) == "r1c3 is the same program as r1c1"
    assert scores.alike(past, past.attempts[0]) == ""


def test_who_fails_alike_does_not_behave_alike() -> None:
    """Equal returns of episodes that were not equally long come from different behaviour."""
    longer = Attempt(
        Candidate("r1c2", "# r1c2", 1, digest="r1c2"),
        Evaluation("ok", tuple(EpisodeRecord(seed, 0.0, 20 + seed) for seed in range(2)), 41),
    )
    past = History([attempt("r1c1", 0.0, 0.0), longer])
    past.find_alike()
    assert past.alike == {"r1c2": "r1c1"}
    assert scores.alike(past, longer) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.00714, "0.0071"), (274.9, "270"), (12.4, "12"), (-9.46, "-9.5"), (float("nan"), "NaN")],
)
def test_errors_have_two_digits(value: Any, text: str) -> None:
    """A standard error of four digits pretends."""
    assert brief(value) == text


def test_failures_are_counted_beside_the_difference() -> None:
    """No clear difference, and yet two of six starts fail: by success, by earning nothing, or by an early end."""

    def records(*episodes: Any) -> Any:
        return Evidence(
            tuple(
                EpisodeRecord(n, r, steps, success, terminated=ended)
                for n, (r, steps, success, ended) in enumerate(episodes)
            )
        )

    good = records(*[(10.0, 100, True, False)] * 6)
    failing = records(*[(12.0, 100, True, False)] * 4, *[(5.0, 100, False, False)] * 2)
    assert scores.mishaps(failing, good) == "no success on 2 of 6 starts"
    nothing = records(*[(12.0, 100, None, False)] * 4, *[(0.0, 100, None, False)] * 2)
    assert scores.mishaps(nothing, good) == "earns 0 on 2 of 6 starts"
    early = records(*[(12.0, 100, None, False)] * 5, (4.0, 30, None, True))
    assert (
        scores.mishaps(early, good)
        == "ends before half of the other's steps, with less on 1 of 6 starts (at step 30)"
    )
    low = records(*[(12.0, 100, None, False)] * 5, (-90.0, 100, None, False))
    assert scores.mishaps(low, good) == "far below its median on 1 of 6 starts"
    assert scores.mishaps(good, good) == ""


def test_those_that_fail_alike_are_told_apart() -> None:
    """Nothing earned by three programs says nothing of how they failed; a return above the marks does."""

    def attempt(id_: str, value: float) -> Attempt:
        records = tuple(EpisodeRecord(seed, value, 640) for seed in range(3))
        return Attempt(Candidate(id_, id_, 1), Evaluation("ok", records, 10))

    for value, alike in ((0.0, False), (5.0, True)):
        past = History([attempt("r1c1", value), attempt("r1c2", value)])
        past.find_alike()
        assert past.alike
        told = [scores.alike(past, one) for one in past.attempts]
        assert any(told) == alike
