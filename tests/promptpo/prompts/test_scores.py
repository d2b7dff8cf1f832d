"""Evidence in words."""

from typing import Any

import pytest

from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.history import History
from promptpo.core.returns import Evidence
from promptpo.prompts import scores
from promptpo.prompts.feedback import endings, with_noise
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation


def evidence(*returns: Any, success: Any = None, terminated: Any = ()) -> Any:
    """Return episodes with these returns."""
    return Evidence(
        tuple(
            EpisodeRecord(seed, value, 10, success, terminated=seed in terminated)
            for seed, value in enumerate(returns)
        )
    )


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (393.04, 69.13, "393 ± 69"),
        (62.34, 9.57, "62.3 ± 9.6"),
        (-1.0571, 0.4368, "-1.06 ± 0.44"),
        (5.0, 9.96, "5 ± 10"),
        (12345.6, 1234.0, "12346 ± 1234"),
        (-0.001, 1.2, "0.0 ± 1.2"),
        (500.0, 0.0, "500 ± 0"),
        (3.0, float("nan"), "3"),
        (3.0, float("inf"), "3"),
        (0.5, 1e-7, "0.5 ± 0"),
        (500.0, 8.68e-08, "500 ± 0"),
        (0.5, 1e-5, "0.5 ± 1e-05"),
        (-9.1817e78, 8.9e78, "-9.182e+78 ± 8.9e+78"),
    ],
)
def test_mean_has_the_decimals_of_its_error(mean: float, error: float, text: str) -> None:
    """Digits that are only noise are not shown."""
    assert with_noise(mean, error) == text
    assert with_noise(mean, error, signed=True) == (f"+{text}" if mean > 0 else text)


def test_error_of_a_difference_is_rounded_by_the_size_of_its_terms() -> None:
    """Two programs that return 500 differ by 0 ± 0, not by rounding errors of the fit."""
    assert with_noise(0.0, 8.68e-08, size=-500.0) == "0 ± 0"
    assert with_noise(0.0, 8.68e-04, size=500.0) == "0.00000 ± 0.00087"


def test_score_has_mean_error_and_number_of_episodes() -> None:
    assert scores.score(evidence(1.0, 2.0, 3.0)) == "2.00 ± 0.58 over 3 episodes"
    assert scores.score(evidence(7.0, success=True)) == "7 over 1 episode, success in 100%"
    assert scores.score(evidence()) == "no finished episode"


def attempt(id_: Any, *returns: Any, duplicate_of: Any = None) -> Any:
    """Return an attempt with these returns."""
    candidate = Candidate(id_, f"# {id_}", 1, digest=id_, duplicate_of=duplicate_of)
    return Attempt(candidate, Evaluation("ok", evidence(*returns).episodes, 10))


def test_constant_returns_have_no_error() -> None:
    """The model of returns leaves rounding errors."""
    attempts = [attempt("r1c1", *[500.0] * 8), attempt("r1c2", *[500.0] * 8), attempt("r1c3", *[9.0] * 8)]
    text = scores.render_scores(History(attempts), attempts[0])
    assert "e-" not in text
    assert "500 ± 0 (8)" in text


def test_initial_states_have_short_names() -> None:
    """Training states count from 1, validation states from v1, whatever their seeds."""
    past = History([attempt("r1c1", 1.0, 2.0)])
    validation = Evaluation("ok", (EpisodeRecord(10_000_004, 3.0, 5),), 5)
    past.validations["r1c1"] = [validation]
    assert dict(scores.starts(past)) == {0: "1", 1: "2", 10_000_004: "v5"}


@pytest.mark.parametrize(
    ("terminated", "words"),
    [
        ((0, 1, 2), "all terminated"),
        ((), "all reached the horizon"),
        ((1,), "1 terminated, 2 reached the horizon"),
    ],
)
def test_endings_name_others_only_if_there_are_any(terminated: Any, words: str) -> None:
    episodes = evidence(1.0, 2.0, 3.0, terminated=terminated).episodes
    assert endings(episodes) == f"Length 10 steps; {words}."
    assert endings(episodes, 10) == endings(episodes)


@pytest.mark.parametrize(
    ("steps", "terminated", "words"),
    [
        ((4,), (), "Length 4 steps; it ended early by truncation."),
        ((10,), (), "Length 10 steps; it reached the horizon."),
        ((4, 4), (), "Length 4 steps; all ended early by truncation."),
        ((4, 4), (0, 1), "Length 4 steps; all terminated."),
        (
            (4, 5),
            (0,),
            "Length 4 to 5 steps; 1 terminated, 1 ended early by truncation.",
        ),
        (
            (4, 10, 6),
            (0,),
            "Length 4 to 10 steps; 1 terminated, 1 ended early by truncation, 1 reached the horizon.",
        ),
    ],
)
def test_endings_distinguish_truncation_from_the_horizon(steps: Any, terminated: Any, words: str) -> None:
    """An episode that the environment truncated earlier did not reach the horizon."""
    episodes = [EpisodeRecord(n, 1.0, length, terminated=n in terminated) for n, length in enumerate(steps)]
    assert endings(episodes, 10) == words
