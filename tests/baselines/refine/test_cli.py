"""`promptpo refine` on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.exceptions import TyperException

from promptpo.cli.document import release
from promptpo.core.control import obey_interrupts
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.output.policy_file import file_and_task
from promptpo.run.origin import is_made_here
from promptpo_baselines.hyperparameters import resolve
from promptpo_baselines.refine.checking import describe_gain
from promptpo_baselines.refine.cli import app
from promptpo_baselines.refine.start import choose_training
from promptpo_baselines.settings import TrainingSettings, save_settings

BALANCE = """class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
"""


def call(*words: str) -> None:
    """Run a command line in this process; errors are raised."""
    command: Any = typer.main.get_command(app)
    try:
        command(list(words), standalone_mode=False)
    finally:
        release()  # --json reserves standard output


def test_importing_the_command_imports_nothing_heavy() -> None:
    code = "import sys, promptpo_baselines.refine.cli; print({'torch', 'stable_baselines3', 'gymnasium'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no run or policy nowhere"),
        (["."], "has no policy"),
        (["program.py"], "--env ENV_ID"),
        (["program.py", "--env", "CartPole-v1", "--scale", "0"], "--scale must be above 0"),
        (["program.py", "--env", "Pendulum-v1"], "does not fit Pendulum-v1: on the first observation"),
        (["program.py", "--env", "CartPole-v1", "--algorithm", "dqn"], "'dqn' is not one of 'auto', 'ppo'"),
        (["program.py", "--env", "CartPole-v1", "--resume"], "--out DIR"),
        (["program.py", "--env", "CartPole-v1", "--max-steps", "0"], "greater than or equal to 1"),
        (
            ["program.py", "--env", "CartPole-v1", "--hyperparams", "none.yml"],
            "cannot read none.yml",
        ),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(BALANCE)
    with pytest.raises((UsageError, TyperException), match=message):
        call(*words)


def test_result_is_printed_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The content of result.json, and its folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(BALANCE)
    (tmp_path / "rows.yml").write_text("default: {n_steps: 64, batch_size: 64}")
    words = [
        "program.py",
        "--env",
        "CartPole-v1",
        "--max-episode-steps",
        "50",
        "--max-steps",
        "64",
        "--out",
        "out",
    ]
    call(*words, "--hyperparams", "rows.yml", "--validation-episodes", "1", "--test-episodes", "1", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"run": "out", **json.loads((tmp_path / "out" / "result.json").read_text())}
    assert printed["max_episode_steps"] == 50
    assert printed["test"]["mean_return"] == 50


def make_result(**changes: Any) -> dict[str, Any]:
    """Return the parts of a result that the sentence uses."""
    result: dict[str, Any] = {
        "program": {"validation": {"outcome": "ok", "mean_return": 10.0}},
        "validation": {"mean_return": 20.0},
        "residual": {"kept": True},
    }
    return {**result, **changes}


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (make_result(), "10 on validation episodes, with the network 20"),
        (make_result(residual={"kept": False}), "no network was better"),
        (
            make_result(program={"validation": {"outcome": "crashed", "mean_return": None}}),
            "fails on validation",
        ),
    ],
)
def test_gain_of_the_network_is_described(result: dict[str, Any], text: str) -> None:
    """Relative to the program alone, on the same episodes."""
    assert text in describe_gain(result)


def test_refining_has_hyperparameters_of_its_own() -> None:
    """If there are any; training from scratch does not use them."""
    task = Task("Walker2d-v5")
    assert "networks on top of programs" in resolve("ppo", task, "ours", refining=True).source
    assert "networks on top of programs" not in resolve("ppo", task, "ours").source
    assert "networks on top of programs" not in resolve("ppo", task, "zoo", refining=True).source
    assert "row default" in resolve("crossq", Task("Pendulum-v1"), "ours", refining=True).source
    assert "on top" not in resolve("crossq", Task("Pendulum-v1"), "ours").source
    hopper = Task("Hopper-v5")
    assert resolve("ppo", hopper, "ours", refining=True) == resolve("ppo", hopper, "ours")


GIVEN = {"scale": 1.0, "allow_weaker": False}


def test_default_algorithm_depends_on_actions_or_the_run(tmp_path: Path) -> None:
    """The user may override it."""
    box, choices = Task("Pendulum-v1"), Task("CartPole-v1")
    assert choose_training("auto", None, box, tmp_path, dict(GIVEN), 600) == "crossq"
    assert choose_training("auto", None, choices, tmp_path, dict(GIVEN), 600) == "ppo"
    save_settings(TrainingSettings("trpo", box, steps=600), tmp_path)
    assert choose_training("auto", None, box, tmp_path, dict(GIVEN), 600) == "trpo"
    assert choose_training("sac", None, box, tmp_path, dict(GIVEN), 600) == "sac"


def test_run_of_a_baseline_is_signed(tmp_path: Path) -> None:
    """Its environment needs no trust until its settings are changed."""
    task = Task("mine:Own-v0")
    save_settings(TrainingSettings("ppo", task, steps=600), tmp_path)
    assert is_made_here(tmp_path)
    (tmp_path / "best.py").write_text(BALANCE)
    assert file_and_task(tmp_path, None) == file_and_task(tmp_path / "best.py", None)
    assert file_and_task(tmp_path, None)[1] == task
    path = tmp_path / "config.json"
    path.write_text(path.read_text().replace("mine", "other"))
    assert not is_made_here(tmp_path)
    with pytest.raises(UsageError, match="--trust"):
        file_and_task(tmp_path, None)


def test_sigint_is_handled_although_it_was_ignored() -> None:
    """Shells without job control make background jobs ignore it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        obey_interrupts()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
