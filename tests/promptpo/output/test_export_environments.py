"""Environments of exported files: named by path, with old interfaces, or registered elsewhere."""

from pathlib import Path

import gymnasium
import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.output.exporting import export_text
from tests.promptpo.commands import run_file
from tests.promptpo.output.test_export import BARE, provenance


@pytest.mark.parametrize("option", ["--env", "--wrapper"])
def test_name_is_called_only_with_brackets(tmp_path: Path, option: str) -> None:
    """This holds for environments and wrappers."""
    path = tmp_path / "policy.py"
    path.write_text(
        export_text(BARE, provenance("gymnasium.envs.classic_control:CartPoleEnv"), action_space=None)
    )
    for name, says in (("builtins:print", "'builtins:print()'"), ("builtins:print()", "AttributeError")):
        done = run_file(path, option, name, "--episodes", "1")
        assert done.returncode == 1
        assert says in done.stderr


OLD = """import random

import gymnasium
from gymnasium.spaces import Box, Discrete


class Old:
    observation_space, action_space = Box(-9, 9, (1,)), Discrete(2)

    def reset(self):
        self.x = [random.uniform(-3, 3)]
        return self.x

    def step(self, action):
        return self.x, self.x[0], True, {"TimeLimit.truncated": True}


class OldOfGymnasium(Old, gymnasium.Env):
    pass


gymnasium.register("Older-v0", OldOfGymnasium)
"""


@pytest.mark.parametrize(
    ("env_id", "confined"),
    [
        *(("old.py:Old", True), ("old.py:Old", False)),
        *((env_id, False) for env_id in ("old.py:OldOfGymnasium", "old:OldOfGymnasium", "old:Older-v0")),
    ],
)
def test_old_gym_interface_is_played(env_id: str, confined: bool, tmp_path: Path) -> None:
    """Its `reset` takes no seed, so that global random numbers are seeded instead."""
    (tmp_path / "old.py").write_text(OLD)
    text = export_text(
        BARE.replace("obs[2] + 0.5 * obs[3]", "obs[0]"),
        provenance(env_id),
        action_space=gymnasium.spaces.Discrete(2),
        confined=confined,
    )
    (tmp_path / "policy.py").write_text(text)
    found = [run_file(tmp_path / "policy.py", "--episodes", "2", cwd=tmp_path) for _ in range(2)]
    assert found[0].returncode == 0, found[0].stderr
    assert found[0].stdout == found[1].stdout
    assert "takes no seed" in found[0].stderr


KEPT = """import random

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete


class Part:
    def __init__(self):
        self.rng = np.random.default_rng()


class Kept(gymnasium.Env):
    observation_space, action_space = Box(-9, 9, (1,), np.float32), Discrete(2)

    def __init__(self):
        self.rng, self.part, self.table = np.random.RandomState(), Part(), np.zeros(3)

    def reset(self, *, seed=None, options=None):
        self.x = np.array([{draw}], np.float32)
        return self.x, {{}}

    def step(self, action):
        return self.x, float(self.x[0]), True, False, {{}}
"""


@pytest.mark.parametrize(
    "draw",
    [
        "self.rng.uniform()",
        "self.part.rng.uniform()",
        "self.np_random.uniform()",
        "np.random.uniform()",
        "random.random()",
    ],
)
def test_exported_file_plays_the_runs_episodes(draw: str, tmp_path: Path) -> None:
    """Every generator is seeded alike even if the environment ignores its seed."""
    (tmp_path / "kept.py").write_text(KEPT.format(draw=draw))
    text = export_text(
        BARE.replace("obs[2] + 0.5 * obs[3]", "obs[0]"),
        provenance("kept.py:Kept"),
        action_space=gymnasium.spaces.Discrete(2),
    )
    (tmp_path / "policy.py").write_text(text)
    done = run_file(tmp_path / "policy.py", "--episodes", "2", "--seed", "5", cwd=tmp_path)
    env = make_env(Task(f"{tmp_path}/kept.py:Kept"))
    returns = [f"return {env.reset(seed=seed)[0].item():.6g}" for seed in (5, 6)]
    assert [line.partition(": ")[2] for line in done.stdout.splitlines()[:2]] == returns


def test_id_registered_with_gym_is_explained(tmp_path: Path) -> None:
    """The error must not claim that the module is missing."""
    (tmp_path / "gym").mkdir()
    (tmp_path / "gym/__init__.py").write_text("from gym import envs\n")
    (tmp_path / "gym/envs.py").write_text("registry = {}\n")
    (tmp_path / "words.py").write_text("import gym\n\ngym.envs.registry['Words-v0'] = None\n")
    text = export_text(BARE, provenance("words:Words-v0"), action_space=gymnasium.spaces.Discrete(2))
    (tmp_path / "policy.py").write_text(text)
    done = run_file(tmp_path / "policy.py", cwd=tmp_path)
    assert "registered with Gym, not with Gymnasium" in done.stderr
    assert "Traceback" not in done.stderr
