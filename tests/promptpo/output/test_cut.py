"""Test episodes that the run itself has cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from promptpo.output.report.result import summarize_evaluation
from promptpo.output.sentences import sentence
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.preflight import SOURCES


def content(*, cut: int, source: str, horizon: int = 600) -> dict[str, Any]:
    """What a result file says of four test episodes, some of which the horizon ended."""
    records = tuple(
        EpisodeRecord(seed, 17.0, 600, terminated=seed >= cut, truncated=seed < cut) for seed in range(4)
    )
    return {
        "preflight": {"horizon": horizon, "horizon_source": SOURCES[source]},
        "test": summarize_evaluation(Evaluation("ok", records, 2400), horizon=horizon),
    }


def cut_in_words(told: dict[str, Any], run: str) -> str:
    """The sentence about it."""
    return sentence("cut", told.get("preflight"), told.get("test"), Path(run))


def test_episodes_that_the_budget_cut_are_told() -> None:
    """Their number, where they were cut, and what plays longer ones."""
    said = cut_in_words(content(cut=3, source="none"), "my runs/breakout")
    assert said.startswith("3 of 4 episodes were truncated at 600 steps")
    assert "promptpo evaluate 'my runs/breakout' --max-episode-steps 6000" in said


@pytest.mark.parametrize(("cut", "source"), [(1, "none"), (4, "time limit"), (4, "user")])
def test_few_cuts_and_limits_that_belong_to_the_task_are_not(cut: int, source: str) -> None:
    """A limit of the environment's or the user's own is part of the task."""
    assert cut_in_words(content(cut=cut, source=source), "run") == ""


def test_what_the_environment_truncates_itself_is_its_own_limit() -> None:
    """Episodes of 600 steps, where the run would have cut them after 1,000."""
    told = content(cut=4, source="none", horizon=1000)
    assert told["test"]["cut"] == 0
    assert cut_in_words(told, "run") == ""


def test_results_from_before_say_nothing() -> None:
    """Without the count, or without a test."""
    ahead = {"horizon": 9, "horizon_source": SOURCES["none"]}
    assert cut_in_words({"preflight": ahead, "test": None}, "r") == ""
    assert cut_in_words({}, "r") == ""
