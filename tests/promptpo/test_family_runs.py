"""Families end to end: a pendulum with several gravities, and Meta-World tasks with the task's number shown."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import promptpo
from promptpo.cli.app import run as command_line
from promptpo.envs.task import Task, Variant
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.exporting import Provenance, export_text
from promptpo.output.tracking import send, tracker
from tests.promptpo.optimizing import Model

SWING = '''```python
"""Pump energy, then hold."""

import numpy as np

PARAMS = {"kp": (10.0, 0.0, 30.0), "kd": (2.0, 0.0, 10.0)}


class Policy:
    def __init__(self, params):
        self.kp, self.kd = params["kp"], params["kd"]

    def act(self, obs):
        angle = np.arctan2(obs[1], obs[0])
        push = -self.kp * angle - self.kd * obs[2] if obs[0] > 0.9 else 2.0 * np.sign(obs[2])
        return np.array([np.clip(push, -2.0, 2.0)], dtype=np.float32)
```'''
GRAVITIES, HELD_OUT_GRAVITIES = (9.81, 5.0, 2.0), (1.0, 7.0)


@pytest.fixture(scope="module")
def pendulums(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run for three gravities, tested on two others."""
    return promptpo.optimize(
        "Pendulum-v1", llm=ScriptedLLM(Model(default=SWING)), variants=[{"g": g} for g in GRAVITIES],
        held_out=[{"g": g} for g in HELD_OUT_GRAVITIES], rounds=1, candidates=1, episodes=3, validation_episodes=3,
        test_episodes=6, max_steps=3000, tune="none", out=tmp_path_factory.mktemp("pendulums") / "run",
    )  # fmt: skip


def test_each_variant_has_its_own_gravity(pendulums: Any) -> None:
    """A weaker gravity is easier."""
    test = pendulums.data["test"]
    returns = {row["env_kwargs"]["g"]: row["mean_return"] for row in test["by_variant"]}
    assert list(returns) == list(GRAVITIES)
    assert returns[2.0] > returns[9.81]
    assert [row["env_kwargs"]["g"] for row in test["held_out"]["by_variant"]] == list(HELD_OUT_GRAVITIES)
    assert len(set(returns.values())) == 3


@pytest.mark.slow
def test_exported_policy_is_played_as_a_family(pendulums: Any) -> None:
    """This holds for the program, for `evaluate`, and for `load_policy` from the directory, the file or any form of environment."""
    done = subprocess.run(
        [sys.executable, str(pendulums.policy_path), "--episodes", "3"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "mean return of 3 episodes" in done.stdout
    assert len(promptpo.evaluate(pendulums.policy_path, episodes=3).as_json()["by_variant"]) == 3
    env = gymnasium.make("Pendulum-v1", g=3.0)
    observation, _ = env.reset(seed=0)
    forms: list[Any] = [None, "Pendulum-v1", env, Task("Pendulum-v1", variants=(Variant({"g": 1.0}),))]
    for form in forms:
        with promptpo.load_policy(pendulums.policy_path, form) as policy:
            action, _ = policy.predict(observation)
            assert env.action_space.contains(action)
    with promptpo.load_policy(str(pendulums.directory)) as policy:
        assert policy.predict(observation)[0].shape == (1,)


def test_monitor_file_has_the_held_out_episodes(pendulums: Any, tmp_path: Path) -> None:
    send(pendulums.directory, [tracker(f"monitor:{tmp_path / 'monitor.csv'}")])
    rows = (tmp_path / "monitor.csv").read_text().splitlines()
    assert sum(",held_out," in row for row in rows) == 6
    assert sum(",test," in row for row in rows) == 6


@pytest.mark.slow
def test_load_policy_accepts_a_shown_variant(tmp_path: Path) -> None:
    """A dict of the observation and the variant's number."""
    source = SWING.replace("obs[", 'obs["observation"][')
    run = promptpo.optimize(
        "Pendulum-v1", llm=ScriptedLLM(Model(default=source)), variants=[{"g": 9.81}, {"g": 2.0}], show_variant=True,
        rounds=1, candidates=1, episodes=2, validation_episodes=2, test_episodes=2, max_steps=2000, tune="none",
        out=tmp_path / "run",
    )  # fmt: skip
    with promptpo.load_policy(run.policy_path) as policy:
        observation = {"observation": np.array([1.0, 0.0, 0.0], np.float32), "variant": 1}
        assert policy.predict(observation)[0].shape == (1,)


def test_baselines_are_tested_on_held_out_variants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their steps count as test steps."""
    flags = ["--env-kwargs", '{"g": 9.81}', "--env-kwargs", '{"g": 2.0}', "--held-out-kwargs", '{"g": 5.0}']
    few = ["--test-episodes", "4", "--validation-episodes", "2", "--out", str(tmp_path / "zero")]
    assert command_line(["baseline", "zero", "Pendulum-v1", *flags, *few]) == 0
    assert "On variants held out from training" in capsys.readouterr().out
    result = json.loads((tmp_path / "zero" / "result.json").read_text())
    assert [row["env_kwargs"]["g"] for row in result["test"]["held_out"]["by_variant"]] == [5.0]
    assert [row["env_kwargs"]["g"] for row in result["test"]["by_variant"]] == [9.81, 2.0]
    assert result["steps"]["test"] == 2 * 4 * 200
    assert command_line(["show", str(tmp_path / "zero")]) == 0
    assert "On variants held out from training " in capsys.readouterr().out


@pytest.mark.slow
def test_trained_baseline_is_tested_on_held_out_variants(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    flags = ["--env-kwargs", '{"g": 9.81}', "--env-kwargs", '{"g": 2.0}', "--held-out-kwargs", '{"g": 5.0}']
    few = [
        "--steps",
        "600",
        "--eval-every",
        "200",
        "--test-episodes",
        "2",
        "--validation-episodes",
        "2",
        "--quiet",
    ]
    out = ["--hyperparams", "default", "--out", str(tmp_path / "ppo")]
    assert command_line(["baseline", "ppo", "Pendulum-v1", *flags, *few, *out]) == 0
    test = json.loads((tmp_path / "ppo" / "result.json").read_text())["test"]
    assert test["held_out"]["episodes"] == 2


REACH = '''"""Move the hand towards what is to be reached, whichever task it is."""

import numpy as np


class Policy:
    def act(self, obs):
        assert 0 <= obs["variant"] < 2
        x = obs["observation"]
        hand, thing, goal = x[:3], x[4:7], x[36:39]
        target = goal if obs["variant"] == 0 and np.any(goal) else thing
        return np.append(np.clip(10.0 * (target - hand), -1.0, 1.0), 0.0).astype(np.float32)
'''


@pytest.mark.slow
def test_meta_world_tasks_are_one_family(tmp_path: Path) -> None:
    """The exported file plays two MT10 tasks, with the task's number in the observation."""
    pytest.importorskip("metaworld")
    variants = tuple(Variant(env_id=name) for name in ("reach-v3", "drawer-close-v3"))
    task = Task("reach-v3", max_episode_steps=50, variants=variants, show_variant=True)
    file = tmp_path / "best.py"
    file.write_text(export_text(REACH, Provenance(task, "a model", "run", "r1c1"), action_space=None))
    done = subprocess.run(
        [sys.executable, str(file), "--episodes", "2"], capture_output=True, text=True, check=False
    )
    assert "mean return of 2 episodes" in done.stdout, done.stderr


def test_exported_file_uses_ids_that_gymnasium_knows() -> None:
    """Meta-World's short names are promptpo's own."""
    from promptpo.output.exporting import portable

    pytest.importorskip("metaworld")
    several = tuple(Variant(env_id=name) for name in ("reach-v3", "Meta-World/push-v3"))
    written = portable(Task("reach-v3", {"reward_function_version": "v2"}, variants=several))
    assert [single.env_id for single in written.singles()] == ["metaworld:Meta-World/MT1"] * 2
    assert [single.env_kwargs["env_name"] for single in written.singles()] == ["reach-v3", "push-v3"]
    plain = Task("Pendulum-v1", {"g": 1.0}, 50, variants=(Variant({"g": 2.0}), Variant({"g": 3.0})))
    assert portable(plain) == plain
