"""Reporting test episodes that the run itself truncated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from promptpo.output.report.result import summarize_evaluation
from promptpo.output.sentences import sentence
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.preflight import SOURCES


def result_with(*, cut: int, source: str, horizon: int = 600) -> dict[str, Any]:
    """Return the result of four test episodes, `cut` of which the horizon truncated."""
    records = tuple(
        EpisodeRecord(seed, 17.0, 600, terminated=seed >= cut, truncated=seed < cut) for seed in range(4)
    )
    return {
        "preflight": {"horizon": horizon, "horizon_source": SOURCES[source]},
        "test": summarize_evaluation(Evaluation("ok", records, 2400), horizon=horizon),
    }


def cut_sentence(result: dict[str, Any], run: str) -> str:
    """Return the sentence on truncated episodes."""
    return sentence("cut", result.get("preflight"), result.get("test"), Path(run))


def test_truncated_episodes_are_reported() -> None:
    """The report has their number, their length and a command that plays longer ones."""
    text = cut_sentence(result_with(cut=3, source="none"), "my runs/breakout")
    assert text.startswith("3 of 4 episodes were truncated at 600 steps")
    assert "promptpo evaluate 'my runs/breakout' --max-episode-steps 6000" in text


@pytest.mark.parametrize(("cut", "source"), [(1, "none"), (4, "time limit"), (4, "user")])
def test_few_truncations_and_own_limits_are_not_reported(cut: int, source: str) -> None:
    """Limits of the environment or the user belong to the task."""
    assert cut_sentence(result_with(cut=cut, source=source), "run") == ""


def test_environments_own_truncation_is_not_a_cut() -> None:
    result = result_with(cut=4, source="none", horizon=1000)
    assert result["test"]["cut"] == 0
    assert cut_sentence(result, "run") == ""


def test_older_results_report_no_cut() -> None:
    ahead = {"horizon": 9, "horizon_source": SOURCES["none"]}
    assert cut_sentence({"preflight": ahead, "test": None}, "r") == ""
    assert cut_sentence({}, "r") == ""
