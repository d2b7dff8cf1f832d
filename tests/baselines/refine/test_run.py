"""Refining a program: the policy file plays as reported, and no failure loses trained networks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promptpo
from promptpo.envs.task import Task
from promptpo.errors import UnsupportedSpaceError, UsageError
from promptpo.output.baseline_run import read_baseline
from promptpo_baselines.progress import Display
from promptpo_baselines.refine.start import prior_of
from promptpo_baselines.settings import TrainingSettings
from promptpo_sandbox import check_source
from tests.baselines.budgets import total
from tests.baselines.late import train
from tests.waiting import wait_until

SHORT = 25
SMALL = "default: {n_steps: 32, batch_size: 32, n_envs: 2, n_epochs: 3, normalize: true}"
SWING = '''"""Push along while it swings, hold it where it stands."""
import numpy as np

PARAMS = {"gain": (10.0, 0.0, 20.0), "damping": (2.0, 0.0, 5.0)}


class Policy:
    def __init__(self, params):
        self.p = params
        self.debug = {"time": 0, "word": "none"}

    def act(self, obs):
        self.debug["time"] += 1
        x, y, speed = obs
        if x > 0.5:
            return [-self.p["gain"] * y - self.p["damping"] * speed]
        return np.array([2.0 if speed > 0 else -2.0])
'''
BALANCE = """class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
"""


class RecordingDisplay(Display):
    """Records its lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def on_start(self, title: str, steps: int, total: int) -> None:
        """Record the title."""
        self.lines.append(title)

    def line(self, text: str) -> None:
        """Record the line."""
        self.lines.append(text)


def write_hyperparameters(folder: Path) -> str:
    """Write a file of hyperparameters with short rollouts, and return its path."""
    path = folder / "small.yml"
    path.write_text(SMALL)
    return str(path)


def run(folder: Path, source: str, env_id: str, *, resume: bool = False, **changes: Any) -> dict[str, Any]:
    """Refine a program for a moment."""
    file = folder / "program.py"
    file.write_text(source)
    scale = changes.pop("scale", 1.0)
    task, prior = prior_of(file, Task(env_id, max_episode_steps=SHORT), scale=scale, allow_weaker=False)
    settings = {
        "algorithm": "ppo",
        "task": task,
        "steps": total(128),
        "hyperparameters": write_hyperparameters(folder),
        "eval_every": 64,
        "validation_episodes": 2,
        "test_episodes": 3,
        "prior": prior,
    }
    training_settings = TrainingSettings(**{**settings, **changes})
    return train(training_settings, folder / "out", resume=resume, display=RecordingDisplay())


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished refinement of a program with parameters."""
    folder = tmp_path_factory.mktemp("pendulum")
    run(folder, SWING, "Pendulum-v1")
    return folder


def result_of(folder: Path) -> dict[str, Any]:
    """Return the result on disk."""
    result: dict[str, Any] = json.loads((folder / "out" / "result.json").read_text())
    return result


@pytest.mark.slow
def test_policy_file_plays_as_reported(pendulum: Path) -> None:
    """Evaluated like any policy file on the same seeds."""
    result = result_of(pendulum)
    played = promptpo.evaluate(pendulum / "out" / "best.py", episodes=3, seed=20_000_000)
    assert list(played.evaluation.returns) == result["test"]["returns"]


def test_result_is_never_worse_than_the_program_on_validation(pendulum: Path) -> None:
    """The program alone is the first point of the curve and may be the best."""
    result = result_of(pendulum)
    alone = promptpo.evaluate(
        pendulum / "program.py", "Pendulum-v1", max_episode_steps=SHORT, episodes=2, seed=10_000_000
    )
    assert result["curve"][0]["steps"] == 0
    assert result["curve"][0]["mean_return"] == alone.evaluation.mean_return
    assert result["validation"]["mean_return"] == max(point["mean_return"] for point in result["curve"])
    assert result["validation"]["mean_return"] >= alone.evaluation.mean_return


def test_steps_are_counted_by_purpose(pendulum: Path) -> None:
    """Steps of the run that wrote the program are separate."""
    assert result_of(pendulum)["steps"] == {
        "train": 128,
        "validation": 3 * 2 * SHORT,
        "test": 3 * SHORT,
        "tune": 0,
        "total": 128 + 9 * SHORT,
        "program": 0,
    }


def test_file_still_contains_the_program_alone(pendulum: Path, tmp_path: Path) -> None:
    """`Policy(residual=False)` acts like it; the file passes the gate and needs only numpy."""
    scope: dict[str, Any] = {"__name__": "played"}
    text = _with_network(pendulum)
    assert check_source(text) is None
    exec(text, scope)  # noqa: S102 - our own text
    alone: dict[str, Any] = {}
    exec(SWING, alone)  # noqa: S102 - our own text
    bare, program = scope["Policy"](residual=False), alone["Policy"]({"gain": 10.0, "damping": 2.0})
    whole = scope["Policy"]()
    rows = np.random.default_rng(0).normal(size=(20, 3))
    assert all(np.array_equal(bare.act(row), program.act(row)) for row in rows)
    assert any(not np.array_equal(whole.act(row), bare.act(row)) for row in rows)


def _with_network(folder: Path) -> str:
    """Return the module of a checkpoint's network, whether or not it was the best."""
    from promptpo_baselines.refine.run import RefineRun
    from promptpo_baselines.settings import load_settings

    refine_run = RefineRun(load_settings(folder / "out"), folder / "out", Display())
    try:
        return refine_run.source()
    finally:
        refine_run.close()


def test_more_steps_continue_from_the_checkpoint(pendulum: Path) -> None:
    """A complete run is not run again."""
    before = result_of(pendulum)
    after = run(pendulum, SWING, "Pendulum-v1", resume=True, steps=total(192))
    assert [point["steps"] for point in after["curve"]] == [0, 64, 128, 192]
    assert after["program"]["episodes"] == before["program"]["episodes"] + 4
    assert [p["mean_return"] for p in after["curve"][:3]] == [p["mean_return"] for p in before["curve"]]
    assert run(pendulum, SWING, "Pendulum-v1", resume=True, steps=total(192)) == after


def test_other_program_cannot_continue_a_run(pendulum: Path) -> None:
    """Nor can a run be overwritten."""
    with pytest.raises(UsageError, match="--resume"):
        run(pendulum, SWING, "Pendulum-v1")
    with pytest.raises(UsageError, match="other settings"):
        run(pendulum, SWING.replace("0.5", "0.4"), "Pendulum-v1", resume=True)


def test_refined_policy_is_not_refined_again(pendulum: Path) -> None:
    """The sentence has the command to train further."""
    with pytest.raises(UsageError, match=r"is refined already; .+ --max-steps: .+ --resume"):
        prior_of(pendulum / "out", None, scale=1.0)


@pytest.mark.slow
def test_crashing_program_is_replaced_by_the_network(tmp_path: Path) -> None:
    """Crashes are counted, and training finishes."""
    crashing = SWING.replace("x, y, speed = obs", "x, y, speed = obs\n        assert self.debug['time'] < 20")
    result = run(tmp_path, crashing, "Pendulum-v1", validation_episodes=1, test_episodes=1)
    assert result["steps"]["train"] == 128
    assert result["program"]["failures"] == {"crashed": 4}, (
        "in two of three episodes in each of two environments"
    )
    assert result["program"]["episodes"] == 6


@pytest.mark.slow
def test_choice_of_a_discrete_program_is_a_bias(tmp_path: Path) -> None:
    """A barely trained network plays CartPole like the program."""
    result = run(tmp_path, BALANCE, "CartPole-v1", eval_every=128, validation_episodes=1, test_episodes=1)
    assert result["validation"]["mean_return"] == result["curve"][-1]["mean_return"] == SHORT
    assert not result["residual"]["kept"], "no network is better"
    assert "No network" in (tmp_path / "out" / "best.py").read_text()
    assert "NETWORK" not in (tmp_path / "out" / "best.py").read_text()
    text = _with_network(tmp_path)
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - our own text
    policy, rows = scope["Policy"](), np.random.default_rng(0).normal(size=(50, 4)) * 0.1
    agree = [policy.act(row) == (1 if row[2] + 0.5 * row[3] > 0 else 0) for row in rows]
    assert np.mean(agree) > 0.9


@pytest.mark.parametrize("algorithm", ["trpo", "sac", "tqc", "crossq"])
@pytest.mark.slow
def test_policy_file_of_every_algorithm_plays_as_reported(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("promptpo_baselines.refine.critic_first.CRITIC_STEPS", 20)
    rows = tmp_path / "rows.yml"
    values = "n_steps: 64" if algorithm == "trpo" else "learning_starts: 100"
    rows.write_text(f"default: {{{values}}}")
    result = run(
        tmp_path, SWING, "Pendulum-v1", algorithm=algorithm, hyperparameters=str(rows), steps=total(128)
    )
    played = promptpo.evaluate(tmp_path / "out" / "best.py", episodes=3, seed=20_000_000)
    assert list(played.evaluation.returns) == result["test"]["returns"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alone", "words"),
    [(False, "in its first 25 steps"), (True, "after 10 steps of the program")],
)
def test_start_of_training_is_explained(
    *, alone: bool, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training only the critic first takes longer than some users train."""
    monkeypatch.setattr("promptpo_baselines.refine.critic_first.CRITIC_STEPS", 15)
    rows = tmp_path / "rows.yml"
    rows.write_text(
        "default: {learning_starts: 10, policy_kwargs: 'dict(net_arch=dict(pi=[16, 16], qf=[16, 16]))'}"
    )
    task = Task("Pendulum-v1", max_episode_steps=20)
    (tmp_path / "program.py").write_text(SWING)
    task, prior = prior_of(tmp_path / "program.py", task, scale=1.0)
    display = RecordingDisplay()
    settings = TrainingSettings(
        "crossq", task, steps=total(20), hyperparameters=str(rows), eval_every=20, validation_episodes=1,
        test_episodes=1, prior={**prior, "alone": alone},
    )  # fmt: skip
    train(settings, tmp_path / "out", resume=False, display=display)
    title = f"refine program.py of {tmp_path / 'program.py'}: a network learns by CrossQ on Pendulum-v1"
    assert any(line.startswith(title) for line in display.lines)
    (tmp_path / "out" / "result.json").unlink()
    assert read_baseline(tmp_path / "out").content["method"] == "refine"
    hints = [line for line in display.lines if "in its first" in line or "standalone" in line]
    assert len(hints) == 1
    assert words in hints[0]


@pytest.mark.parametrize(
    ("source", "env_id", "error", "message"),
    [
        ("import os\n" + BALANCE, "CartPole-v1", UsageError, "the sandbox does not take"),
        ("x = 1\n", "CartPole-v1", UsageError, "no class Policy"),
        (BALANCE, "CarRacing-v3", UnsupportedSpaceError, "none for images"),
    ],
)
def test_unrefinable_program_gets_one_sentence(
    source: str, env_id: str, error: Any, message: str, tmp_path: Path
) -> None:
    """It is refused before any training."""
    with pytest.raises(error, match=message):
        run(tmp_path, source, env_id)
    assert not (tmp_path / "out").exists()


def test_discrete_actions_require_an_on_policy_algorithm(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedSpaceError, match="TQC has no policy"):
        run(tmp_path, BALANCE, "CartPole-v1", algorithm="tqc", hyperparameters="default")


COMMAND = "import sys; from promptpo_baselines.refine.cli import app; app(sys.argv[1:])"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_keeps_the_best_so_far(tmp_path: Path) -> None:
    """There is a policy file, and the same command continues."""
    (tmp_path / "program.py").write_text(BALANCE)
    words = ["program.py", "--env", "CartPole-v1", "--max-steps", "1000000", "--eval-every", "64"]
    words += [
        "--hyperparams",
        write_hyperparameters(tmp_path),
        "--validation-episodes",
        "1",
        "--test-episodes",
        "2",
        "--out",
        "out",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    wait_until((tmp_path / "out" / "best.py").exists, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "--resume" in err
    assert promptpo.evaluate(tmp_path / "out" / "best.py", episodes=1).evaluation.mean_return == 500
