"""The result file: its content and atomic writing."""

import json
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.candidate import Attempt, Candidate, Seeds
from promptpo.core.config import Config
from promptpo.core.control import StopReason
from promptpo.core.final_test import Outcome
from promptpo.core.history import History
from promptpo.core.returns import Evidence
from promptpo.envs.task import Task
from promptpo.output.report import result, write_atomically, write_result
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.state import RunState


def test_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No temporary file is left."""
    path = tmp_path / "result.json"
    write_atomically(path, "old")

    def full(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_result_is_json(tmp_path: Path) -> None:
    write_result(tmp_path, {"a": [1, None]})
    assert json.loads((tmp_path / "result.json").read_text()) == {"a": [1, None]}


def episodes_with(seeds: tuple[int, ...], return_: float) -> tuple[EpisodeRecord, ...]:
    """Episodes that all have this return."""
    return tuple(EpisodeRecord(seed=seed, return_=return_, steps=5) for seed in seeds)


def result_of(train: tuple[EpisodeRecord, ...], validation: tuple[EpisodeRecord, ...]) -> dict[str, object]:
    """Return the result of a run whose best policy has these episodes and returned 6 in the test."""
    seeds = Seeds(0)
    best, test = (
        Attempt(Candidate("r1c1", "", 1), Evaluation("ok", train, 10)),
        episodes_with(seeds.test(2), 6.0),
    )
    return result(
        RunState(Config(Task("CartPole-v1"))),
        Outcome(History(), best, Evidence.of(train, validation), Evaluation("ok", test, 10), StopReason()),
        horizon=500,
        language_model=False,
    )


def test_validation_excludes_training_episodes() -> None:
    """Both together are the evidence; each has its own selection gap."""
    seeds = Seeds(0)
    found: dict[str, Any] = result_of(
        episodes_with(seeds.train(2), 9.0), episodes_with(seeds.validation(1), 3.0)
    )
    assert found["train"]["returns"] == [9.0, 9.0]
    assert found["validation"]["returns"] == [3.0]
    assert sorted(found["evidence"]["returns"]) == [3.0, 9.0, 9.0]
    assert found["selection_gap"] == {
        "train_minus_test": 3.0, "validation_minus_test": -3.0, "evidence_minus_test": 1.0
    }  # fmt: skip


def test_run_without_validation_has_null_validation() -> None:
    found: dict[str, Any] = result_of(episodes_with(Seeds(0).train(2), 9.0), ())
    assert found["validation"] is None
    assert found["selection_gap"]["validation_minus_test"] is None
    assert found["evidence"]["mean_return"] == 9.0
