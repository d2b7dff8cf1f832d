"""The Python API for listing, comparing and training baselines."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import promptpo
from promptpo.errors import RunError, UsageError

QUICK = {"test_episodes": 4, "validation_episodes": 1}


def test_baselines_are_listed_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are values with a readable repr."""
    monkeypatch.chdir(tmp_path)
    zero = promptpo.baseline("zero", "CartPole-v1", out="zero", **QUICK)
    random = promptpo.baseline("random", "CartPole-v1", out="random", seed=1, **QUICK)
    assert zero.mean_return < random.mean_return
    assert f"zero on CartPole-v1: mean return {zero.mean_return:.4g}" in repr(zero)
    compared = promptpo.compare(zero, "random")
    none, difference = compared.differences
    assert none is None
    assert difference.mean == pytest.approx(random.mean_return - zero.mean_return)
    assert compared.as_json()[1]["against_first"]["episodes"] == 4
    assert "difference from the first" in repr(compared)
    assert compared.write_report().read_text().upper().startswith("<!DOCTYPE HTML>")
    runs = promptpo.list_runs()
    assert [str(line.directory) for line in runs] == ["random", "zero"]
    assert "random" in repr(runs)
    (tmp_path / "zero" / "result.json").write_text("{")
    assert len(promptpo.list_runs(tmp_path).damaged) == 1


def test_evaluation_has_a_mean_with_interval(tmp_path: Path) -> None:
    """The mean is NaN if nothing ran."""
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(
        "class Policy:\n    def act(self, obs):\n        return 1 if obs[2] + 0.4 * obs[3] > 0 else 0\n"
    )
    bad.write_text("class Policy:\n    def act(self, obs):\n        return 1 / 0\n")
    played = promptpo.evaluate(good, "CartPole-v1", episodes=3)
    assert (played.mean_return, played.ci95, played.returns) == (500, (500, 500), (500, 500, 500))
    assert repr(played) == "<CartPole-v1: mean return 500 (in each of 3 episodes)>"
    failed = promptpo.evaluate(bad, "CartPole-v1", episodes=3)
    assert math.isnan(failed.mean_return)
    assert "ZeroDivisionError" in repr(failed)


@pytest.mark.parametrize(
    ("algorithm", "settings", "says"),
    [("pqo", {}, "there are ppo"), ("zero", {"test_episode": 3}, "did you mean test_episodes?"), ("ppo", {"stepz": 1}, "did you mean steps?")],
)  # fmt: skip
def test_invalid_baseline_is_rejected_first(
    algorithm: str, settings: dict[str, int], says: str, tmp_path: Path
) -> None:
    """No directory is created."""
    with pytest.raises(UsageError, match=says.replace("?", r"\?")):
        promptpo.baseline(algorithm, "CartPole-v1", out=tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_comparing_one_run_or_listing_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two or more runs"):
        promptpo.compare(tmp_path)
    with pytest.raises(RunError, match="not a folder"):
        promptpo.list_runs(tmp_path / "none")
