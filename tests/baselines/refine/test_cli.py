"""`promptpo refine` as people type it."""

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
    """Run a command line in this process; errors come out as exceptions."""
    command: Any = typer.main.get_command(app)
    try:
        command(list(words), standalone_mode=False)
    finally:
        release()  # of standard output, which --json keeps for itself


def test_importing_the_command_imports_nothing_heavy() -> None:
    """Neither torch nor gymnasium is loaded before the command needs it."""
    code = "import sys, promptpo_baselines.refine.cli; print({'torch', 'stable_baselines3', 'gymnasium'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
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
def test_bad_input_is_told_in_one_sentence(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(BALANCE)
    with pytest.raises((UsageError, TyperException), match=said):
        call(*words)


def test_the_result_is_printed_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exactly what is in result.json, and where it is."""
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


def content(**changes: Any) -> dict[str, Any]:
    """The parts of a result that the sentence reads."""
    found: dict[str, Any] = {
        "program": {"validation": {"outcome": "ok", "mean_return": 10.0}},
        "validation": {"mean_return": 20.0},
        "residual": {"kept": True},
    }
    return {**found, **changes}


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (content(), "10 on validation episodes, with the network 20"),
        (content(residual={"kept": False}), "no network was better"),
        (content(program={"validation": {"outcome": "crashed", "mean_return": None}}), "fails on validation"),
    ],
)
def test_a_sentence_says_what_the_network_brought(result: dict[str, Any], said: str) -> None:
    """Against the program alone, on the same episodes."""
    assert said in describe_gain(result)


def test_refining_has_rows_of_its_own() -> None:
    """Where there is one; training from scratch does not take it."""
    task = Task("Walker2d-v5")
    assert "networks on top of programs" in resolve("ppo", task, "ours", refining=True).source
    assert "networks on top of programs" not in resolve("ppo", task, "ours").source
    assert "networks on top of programs" not in resolve("ppo", task, "zoo", refining=True).source
    assert "row default" in resolve("crossq", Task("Pendulum-v1"), "ours", refining=True).source
    assert "on top" not in resolve("crossq", Task("Pendulum-v1"), "ours").source
    hopper = Task("Hopper-v5")
    assert resolve("ppo", hopper, "ours", refining=True) == resolve("ppo", hopper, "ours")


GIVEN = {"scale": 1.0, "allow_weaker": False}


def test_who_trains_follows_from_the_actions_or_from_the_run(tmp_path: Path) -> None:
    """Unless the user says it; a run goes on with who has trained it."""
    box, choices = Task("Pendulum-v1"), Task("CartPole-v1")
    assert choose_training("auto", None, box, tmp_path, dict(GIVEN), 600) == "crossq"
    assert choose_training("auto", None, choices, tmp_path, dict(GIVEN), 600) == "ppo"
    save_settings(TrainingSettings("trpo", box, steps=600), tmp_path)
    assert choose_training("auto", None, box, tmp_path, dict(GIVEN), 600) == "trpo"
    assert choose_training("sac", None, box, tmp_path, dict(GIVEN), 600) == "sac"


def test_the_run_of_a_baseline_is_signed(tmp_path: Path) -> None:
    """Its own environment is built without being asked about it, until somebody changes its settings."""
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


def test_an_interrupt_is_obeyed_where_it_was_ignored() -> None:
    """A shell without job control has its background jobs ignore SIGINT; training listens to it all the same."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        obey_interrupts()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
