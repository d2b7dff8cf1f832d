"""Of how many episodes the final test is."""

from pathlib import Path
from typing import Any

import pytest

from promptpo.core import held_out as final_test
from promptpo.run.state import read_state
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import GOOD

FEW: dict[str, Any] = {
    "rounds": 1,
    "candidates": 1,
    "tune": "none",
    "stop_at": None,
    "max_episode_steps": 20,
}


def test_a_slow_policy_plays_as_many_test_episodes_as_time_pays_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its first test episodes took decides, once in a run; a number that the user names stays."""
    monkeypatch.setattr(final_test, "TEST_SECONDS", 1e6)  # quick enough, however busy the machine is
    run = optimize(Model(default=GOOD), tmp_path / "quick", **FEW, test_episodes=None)
    assert run.data["test"]["episodes"] == 100
    assert run.data["test_plan"] == {"episodes": 100, "of": 100, "words": []}
    monkeypatch.setattr(final_test, "TEST_SECONDS", 0.0)
    slow = optimize(Model(default=GOOD), tmp_path / "slow", **FEW, test_episodes=None, jobs=1)
    assert slow.data["test"]["returns"] == run.data["test"]["returns"][:10]
    (words,) = slow.data["test_plan"]["words"]
    assert "10 instead of 100 episodes" in words
    assert "--test-episodes 100 plays them all" in words
    assert words[1:] in (slow.directory / "report.html").read_text()
    asked = optimize(Model(default=GOOD), tmp_path / "asked", **FEW, test_episodes=12, jobs=1)
    assert asked.data["test"]["episodes"] == 12
    state = read_state(asked.directory)
    assert state.test is not None
    assert list(state.test.returns) == asked.data["test"]["returns"]
