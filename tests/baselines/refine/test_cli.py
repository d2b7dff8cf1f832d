"""`promptpo refine` as people type it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from baselines.hyperparameters import resolve
from baselines.refine.cli import app, compared
from promptpo.envs.task import Task
from promptpo.errors import UsageError

BALANCE = """class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
"""


def call(*words: str) -> None:
    """Run a command line in this process; errors come out as exceptions."""
    command: Any = typer.main.get_command(app)
    command(list(words), standalone_mode=False)


def test_importing_the_command_imports_nothing_heavy() -> None:
    """Neither torch nor gymnasium is loaded before the command needs it."""
    code = "import sys, baselines.refine.cli; print({'torch', 'stable_baselines3', 'gymnasium'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "there is no run or policy nowhere"),
        (["."], "has no policy"),
        (["program.py"], "--env ENV_ID"),
        (["program.py", "--env", "CartPole-v1", "--scale", "0"], "--scale must be above 0"),
        (["program.py", "--env", "CartPole-v1", "--algorithm", "dqn"], "must be one of ppo, trpo"),
        (["program.py", "--env", "CartPole-v1", "--resume"], "--out DIR"),
        (["program.py", "--env", "CartPole-v1", "--steps", "0"], "--steps must be at least 1"),
        (
            ["program.py", "--env", "CartPole-v1", "--hyperparams", "none.yml"],
            "cannot read the hyperparameters",
        ),
    ],
)
def test_bad_input_is_told_in_one_sentence(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(BALANCE)
    with pytest.raises(UsageError, match=said):
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
        "--steps",
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
        "residual": {"kept": True, "share": 0.25},
    }
    return {**found, **changes}


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (content(), "has 10 on validation episodes, with the network 20; 25.0%"),
        (content(residual={"kept": False, "share": 0.0}), "no network was better"),
        (content(program={"validation": {"outcome": "crashed", "mean_return": None}}), "fails on validation"),
    ],
)
def test_a_sentence_says_what_the_network_brought(result: dict[str, Any], said: str) -> None:
    """Against the program alone, on the same episodes."""
    assert said in compared(result)


def test_refining_has_rows_of_its_own() -> None:
    """Where there is one; training from scratch does not take it."""
    task = Task("Walker2d-v5")
    assert "networks on top of programs" in resolve("ppo", task, "ours", refining=True).source
    assert "networks on top of programs" not in resolve("ppo", task, "ours").source
    assert "networks on top of programs" not in resolve("ppo", task, "zoo", refining=True).source
    hopper = Task("Hopper-v5")
    assert resolve("ppo", hopper, "ours", refining=True) == resolve("ppo", hopper, "ours")
