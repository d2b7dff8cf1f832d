"""Which numbers mattered: from tuning's own data, in `show` and in the report."""

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
    """A candidate whose tuning told this."""
    return Candidate("r1c1t", SOURCE, 1, sensitivity=known)


def test_an_array_is_one_row() -> None:
    """Its shape is with its name, and its value is the mean size of its numbers."""
    source = "PARAMS = {'W': ([1.0, -2.0], -4, 4), 'kp': (1, 0, 2)}\n"
    one = Candidate("r1c1t", source, 1, sensitivity={"W": Sensitivity(0.5, "", 9)})
    told = importance_json(one)
    assert told is not None
    assert told["parameters"] == [
        {"name": "W", "value": 1.5, "low": -4, "high": 4, "share": 0.5, "at_bound": "", "shape": (2,)}
    ]


def test_the_sentence_names_what_mattered_and_what_stands_at_a_bound() -> None:
    """Those that mattered most first; what noise explains is named at a bound only."""
    one = candidate(
        bias=Sensitivity(0.0, "", 240), kd=Sensitivity(0.2, "upper", 240), kp=Sensitivity(0.625, "", 240),
        gain=Sensitivity(0.0, "lower", 240), gone=Sensitivity(0.9, "", 240),
    )  # fmt: skip
    assert sentence("importance", importance_json(one)) == (
        "Parameters that affected the return in 240 tuning episodes: kp 62%, kd 20% (at its upper bound), gain 0% (at its lower "
        "bound)."
    )
    assert [each["name"] for each in importance_json(one)["parameters"]] == ["kp", "kd", "bias", "gain"]
    told = importance_json(one)
    assert told is not None
    assert told["episodes"] == 240
    assert told["parameters"][1] == {
        "name": "kd", "value": 5.0, "low": 0.0, "high": 5.0, "share": 0.2, "at_bound": "upper"
    }  # fmt: skip


def test_without_clear_effects_that_is_said() -> None:
    """And nothing at all where nothing was tuned."""
    assert sentence("importance", importance_json(candidate(kp=Sensitivity(0.0, "", 9)))) == (
        "Parameters that affected the return in 9 tuning episodes: none of them clearly."
    )
    assert sentence("importance", None) == ""
    assert importance_json(candidate()) is None


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run whose one candidate has two numbers that were tuned."""
    return optimize(
        Model(default=TUNABLE),
        tmp_path_factory.mktemp("tuned") / "run",
        rounds=1,
        candidates=1,
        max_steps=12_000,
    )


def test_a_run_tells_it_everywhere(tuned: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """`show`, its JSON, one candidate in full, and the report; the number of episodes is that of the journal."""
    best = read_view(tuned.directory).best
    assert best is not None
    assert set(best.attempt.candidate.sensitivity) == {"angle", "rate"}
    words = sentence("importance", importance_json(best.attempt.candidate))
    assert command_line(["show", str(tuned.directory)]) == 0
    assert words in capsys.readouterr().out
    assert command_line(["show", str(tuned.directory), "best"]) == 0
    assert words in capsys.readouterr().out
    assert command_line(["show", str(tuned.directory), "--json"]) == 0
    told = {one["id"]: one["importance"] for one in json.loads(capsys.readouterr().out)["candidates"]}
    assert told[best.id]["episodes"] > 20
    page = write_report(tuned.directory, episode=False).read_text()
    assert "Which parameters mattered" in page
    assert page.count("<meter ") == 2


@pytest.mark.slow
def test_it_is_kept_where_tuning_found_nothing_better(tmp_path: Path) -> None:
    """Nothing beats 50 of 50 steps: the candidate as it was written has the importance of its numbers, on disk."""
    already = TUNABLE.replace("(-1.0, -2.0, 2.0)", "(1.0, -2.0, 2.0)").replace("(-0.5, -2.0", "(0.5, -2.0")
    run = optimize(
        Model(default=already), tmp_path / "run", rounds=1, candidates=1, max_steps=6000, max_episode_steps=50
    )
    view = read_view(run.directory)
    assert view.state.candidate("r1c1t") is None
    assert view.best is not None
    assert view.best.attempt.candidate.sensitivity["rate"].episodes > 20
