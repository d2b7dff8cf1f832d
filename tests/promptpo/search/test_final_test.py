"""Of how many episodes the final test is."""

from pathlib import Path
from typing import Any

import pytest

from promptpo.run import preflight
from promptpo.run.preflight import final_test_in_words
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import GOOD

FEW: dict[str, Any] = {
    "rounds": 1,
    "candidates": 1,
    "tune": "none",
    "stop_at": None,
    "max_episode_steps": 100,
}


def test_a_slow_policy_plays_as_many_test_episodes_as_time_pays_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its earlier episodes took decides, once in a run; a number that the user names stays."""
    monkeypatch.setattr(preflight, "TEST_SECONDS", 1e6)  # quick enough, however busy the machine is
    run = optimize(Model(default=GOOD), tmp_path / "quick", **FEW, test_episodes=None)
    plan = run.data["test_plan"]
    assert (run.data["test"]["episodes"], plan["episodes"], plan["of"]) == (100, 100, 100)
    assert plan["seconds_each"] > 0
    monkeypatch.setattr(preflight, "TEST_SECONDS", 12.9 * plan["seconds_each"])
    monkeypatch.setattr(preflight.os, "cpu_count", lambda: 1)
    slow = optimize(Model(default=GOOD), tmp_path / "slow", **FEW, test_episodes=None, jobs=1)
    assert 10 <= slow.data["test"]["episodes"] < 100
    assert slow.data["test"]["returns"] == run.data["test"]["returns"][: slow.data["test"]["episodes"]]
    (words,) = slow.data["test_plan"]["words"]
    assert "--test-episodes 100 plays them all" in words
    assert words[1:] in (slow.directory / "report.html").read_text()
    asked = optimize(Model(default=GOOD), tmp_path / "asked", **FEW, test_episodes=24, jobs=1)
    assert asked.data["test"]["episodes"] == 24


def test_the_time_that_is_told_is_the_policys_too() -> None:
    """A planner's minutes are told before they are waited for, and what all episodes would take."""
    plan = {"episodes": 12, "of": 100, "seconds_each": 50.0, "seconds": 600.0}
    (said,) = final_test_in_words(plan)
    assert "12 held-out episodes takes about 10 min" in said
    assert "100 would take 83 min at 50 s each" in said
    assert final_test_in_words(plan | {"episodes": 100, "seconds": 4.0}) == []
    assert "50 s" in final_test_in_words(plan | {"episodes": 100, "seconds": 50.0})[0]
