"""``--search`` tries hyperparameters on training seeds within the run's step budget."""

from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_baselines.hyperparameters import ROWS, fit_to_budget, read_rows, resolve
from promptpo_baselines.settings import TrainingSettings
from tests.baselines.late import train
from tests.baselines.test_pausing import RecordingDisplay


def run(directory: Path, display: RecordingDisplay, **changes: Any) -> Any:
    """Train a short run with two trials of 200 steps."""
    settings = TrainingSettings(
        "ppo", Task("CartPole-v1", {}, 25), **{"steps": 800, "search": 2, "hyperparameters": "default", **changes},
        eval_every=10_000, validation_episodes=1, test_episodes=1,
    )  # fmt: skip
    return train(settings, directory, resume=True, display=display)


@pytest.mark.slow
def test_search_stays_within_the_steps_and_reports_its_cost(tmp_path: Path) -> None:
    """A resumed run repeats no trial."""
    first = RecordingDisplay(stop_at=200)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", first)
    trials = [line for line in first.lines if line.startswith("  trial")]
    assert len(trials) == 2
    again = RecordingDisplay()
    result = run(tmp_path / "run", again)
    assert not [line for line in again.lines if line.startswith("  trial")]
    steps = result["steps"]
    assert 400 >= steps["tune"] == result["search"]["steps"] > 200
    assert steps["train"] + steps["tune"] <= 800
    assert steps["total"] == sum(steps[name] for name in ("train", "tune", "validation", "test"))
    assert result["search"]["trials"] == 2
    assert "--search" in result["hyperparameters"]["source"]


@pytest.mark.slow
def test_given_hyperparameters_are_tried_although_the_first_trial_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted trial is repeated: it has no score, and would leave one trial fewer."""
    from promptpo_baselines import search

    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(search, "_trial", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "run", RecordingDisplay())
    tried: list[Any] = []

    def first_is_best(settings: Any, row: Any, number: int, each: int) -> tuple[float, int]:
        tried.append(dict(row.values))
        return -float(len(tried)), each

    monkeypatch.setattr(search, "_trial", first_is_best)
    result = run(tmp_path / "run", RecordingDisplay())
    assert len(tried) == result["search"]["trials"] == 2
    assert tried[0] == {} != tried[1]
    assert "found nothing better" in result["hyperparameters"]["source"]
    assert result["steps"]["tune"] == 400


def test_too_few_steps_for_the_trials_are_refused(tmp_path: Path) -> None:
    """The sentence has the number required."""
    with pytest.raises(UsageError, match="give --max-steps 4,000 or more"):
        run(tmp_path / "run", RecordingDisplay(), search=10)


@pytest.mark.parametrize("algorithm", read_rows(ROWS / "search.yml"))
def test_searched_hyperparameters_are_arguments_of_the_algorithm(algorithm: str, tmp_path: Path) -> None:
    """And their row can be used."""
    space = read_rows(ROWS / "search.yml")[algorithm]
    chosen = {name: given["low"] if isinstance(given, dict) else given[0] for name, given in space.items()}
    path = tmp_path / "rows.yml"
    path.write_text(f"default: {chosen}")
    row = resolve(algorithm, Task("CartPole-v1"), str(path))
    assert set(space) <= set(fit_to_budget(row, algorithm, 1000).values)
