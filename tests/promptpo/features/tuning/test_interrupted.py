"""Interrupted tuning keeps its best parameters and resumes at the same batch."""

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.core import control
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.optimizing import QUICK, Model, read_run
from tests.promptpo.policies import TUNABLE


class Interrupter(promptpo.Observer):
    """Presses Ctrl-C after some batches of tuning."""

    def __init__(self, batches: Any) -> None:
        self.left = batches

    def on_event(self, event: Any) -> None:
        """Count batches down."""
        self.left -= event.kind == "tuning"
        if self.left == 0:
            self.left = -1
            signal.raise_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def resumed_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[str], Any]:
    """A run interrupted during tuning, the keys of its batches then, and the resumed run."""
    folder = tmp_path_factory.mktemp("interrupted")
    model, more = Model(default=TUNABLE), {**QUICK, "test_episodes": 8}
    given = {"rounds": 1, "candidates": 1, "max_steps": 8_000, **more}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(control, "GRACE_SECONDS", 100.0)  # for a busy machine
        with pytest.raises(KeyboardInterrupt):
            promptpo.optimize(
                "CartPole-v1", llm=ScriptedLLM(model), out=folder / "run", observer=Interrupter(6), **given
            )
    run = promptpo.load_run(folder / "run")
    batches = [event.key for event in read_run(folder / "run")["tuning"]]
    return run, batches, promptpo.resume(folder / "run", llm=ScriptedLLM(model))


def test_best_parameters_survive_an_interruption(resumed_run: Any) -> None:
    """The resumed run continues and never gets worse."""
    run, batches, again = resumed_run
    assert run.stop_reason == "interrupted by Ctrl-C"
    assert run.data["best"]["candidate"].startswith("r1c1t")
    assert run.data["best"]["tuned"]
    assert run.mean_return > 60
    assert [event.key for event in read_run(again.directory)["tuning"]][: len(batches)] == batches
    assert again.mean_return >= run.mean_return - 20
    assert again.data["best"]["tuned"]


def test_resuming_without_time_changes_nothing(resumed_run: Any, tmp_path: Path) -> None:
    *_, run = resumed_run
    shutil.copytree(run.directory, tmp_path / "run")
    again = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(Model()), rounds=3, seconds=0.001)
    assert "seconds is reached" in again.stop_reason
    assert again.data["best"] == run.data["best"]
    assert again.data["test"] == run.data["test"]
