"""Importance of parameters from tuning data, in `show` and in the report."""

import json
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run as command_line
from promptpo.core.candidate import Candidate, Sensitivity
from promptpo.output.importance import importance_json
from promptpo.output.report.page import write_report
from promptpo.output.run_view import read_view
from promptpo.output.sentences import sentence
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import TUNABLE

SOURCE = """
PARAMS = {"kp": (1.0, 0.0, 2.0), "kd": (5.0, 0.0, 5.0), "bias": (0.0, -1.0, 1.0), "gain": (0.0, 0.0, 1.0)}


class Policy:
    def __init__(self, params):
        pass

    def act(self, obs):
        return 0
"""


def candidate(**known: Sensitivity) -> Candidate:
    """A candidate with these sensitivities from tuning."""
    return Candidate("r1c1t", SOURCE, 1, sensitivity=known)


def test_array_parameter_is_one_row() -> None:
    """Its value is the mean absolute value of its elements."""
    source = "PARAMS = {'W': ([1.0, -2.0], -4, 4), 'kp': (1, 0, 2)}\n"
    tuned_array = Candidate("r1c1t", source, 1, sensitivity={"W": Sensitivity(0.5, "", 9)})
    importance = importance_json(tuned_array)
    assert importance is not None
    assert importance["parameters"] == [
        {"name": "W", "value": 1.5, "low": -4, "high": 4, "share": 0.5, "at_bound": "", "shape": (2,)}
    ]


def test_sentence_lists_important_parameters_and_bounds() -> None:
    """Parameters within noise appear only if they are at a bound."""
    one = candidate(
        bias=Sensitivity(0.0, "", 240), kd=Sensitivity(0.2, "upper", 240), kp=Sensitivity(0.625, "", 240),
        gain=Sensitivity(0.0, "lower", 240), gone=Sensitivity(0.9, "", 240),
    )  # fmt: skip
    assert sentence("importance", importance_json(one)) == (
        "Parameters that affected the return in 240 tuning episodes: kp 62%, kd 20% (at its upper bound), gain 0% (at its lower "
        "bound)."
    )
    assert [each["name"] for each in importance_json(one)["parameters"]] == ["kp", "kd", "bias", "gain"]
    importance = importance_json(one)
    assert importance is not None
    assert importance["episodes"] == 240
    assert importance["parameters"][1] == {
        "name": "kd", "value": 5.0, "low": 0.0, "high": 5.0, "share": 0.2, "at_bound": "upper"
    }  # fmt: skip


def test_sentence_without_clear_effects() -> None:
    """Without tuning there is no sentence."""
    assert sentence("importance", importance_json(candidate(kp=Sensitivity(0.0, "", 9)))) == (
        "Parameters that affected the return in 9 tuning episodes: none of them clearly."
    )
    assert sentence("importance", None) == ""
    assert importance_json(candidate()) is None


@pytest.fixture(scope="module")
def tuned_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run whose candidate has two tuned parameters."""
    return optimize(
        Model(default=TUNABLE),
        tmp_path_factory.mktemp("tuned_run") / "run",
        rounds=1,
        candidates=1,
        max_steps=12_000,
    )


def test_importance_is_in_show_and_report(tuned_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON and the view of one candidate have it, too."""
    best = read_view(tuned_run.directory).best
    assert best is not None
    assert set(best.attempt.candidate.sensitivity) == {"angle", "rate"}
    words = sentence("importance", importance_json(best.attempt.candidate))
    assert command_line(["show", str(tuned_run.directory)]) == 0
    assert words in capsys.readouterr().out
    assert command_line(["show", str(tuned_run.directory), "best"]) == 0
    assert words in capsys.readouterr().out
    assert command_line(["show", str(tuned_run.directory), "--json"]) == 0
    importance = {one["id"]: one["importance"] for one in json.loads(capsys.readouterr().out)["candidates"]}
    assert importance[best.id]["episodes"] > 20
    page = write_report(tuned_run.directory, episode=False).read_text()
    assert "Which parameters mattered" in page
    assert page.count("<meter ") == 2


@pytest.mark.slow
def test_importance_is_kept_without_improvement(tmp_path: Path) -> None:
    """The original already returns 50 in 50 steps."""
    already = TUNABLE.replace("(-1.0, -2.0, 2.0)", "(1.0, -2.0, 2.0)").replace("(-0.5, -2.0", "(0.5, -2.0")
    run = optimize(
        Model(default=already), tmp_path / "run", rounds=1, candidates=1, max_steps=6000, max_episode_steps=50
    )
    view = read_view(run.directory)
    assert view.state.candidate("r1c1t") is None
    assert view.best is not None
    assert view.best.attempt.candidate.sensitivity["rate"].episodes > 20
