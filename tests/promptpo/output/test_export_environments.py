"""Environments that an exported file plays: named, of old interfaces, or registered elsewhere."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

from promptpo.output.exporting import export_text
from tests.promptpo.output.test_export import BARE, provenance


@pytest.mark.parametrize("option", ["--env", "--wrapper"])
def test_a_file_calls_a_function_only_where_brackets_ask_for_it(tmp_path: Path, option: str) -> None:
    """An environment's name and a wrapper's alike."""
    path = tmp_path / "policy.py"
    path.write_text(
        export_text(BARE, provenance("gymnasium.envs.classic_control:CartPoleEnv"), action_space=None)
    )
    for name, says in (("builtins:print", "'builtins:print()'"), ("builtins:print()", "AttributeError")):
        command = [sys.executable, str(path), option, name, "--episodes", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
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
    "env_id", ["old.py:Old", "old.py:OldOfGymnasium", "old:OldOfGymnasium", "old:Older-v0"]
)
@pytest.mark.parametrize("confined", [True, False])
def test_environments_of_old_interfaces_are_played(env_id: str, confined: bool, tmp_path: Path) -> None:
    """`reset` without a seed and `step` with four values; the file says so, and global random numbers repeat."""
    (tmp_path / "old.py").write_text(OLD)
    text = export_text(
        BARE.replace("obs[2] + 0.5 * obs[3]", "obs[0]"),
        provenance(env_id),
        action_space=gymnasium.spaces.Discrete(2),
        confined=confined,
    )
    (tmp_path / "policy.py").write_text(text)
    found = [
        subprocess.run(
            [sys.executable, "policy.py", "--episodes", "2"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        for _ in range(2)
    ]
    assert found[0].returncode == 0, found[0].stderr
    assert found[0].stdout == found[1].stdout
    assert "takes no seed" in found[0].stderr


def test_an_id_of_gym_is_named_as_one(tmp_path: Path) -> None:
    """Where a module registers an id with Gym, the file does not say that the module is missing."""
    (tmp_path / "gym").mkdir()
    (tmp_path / "gym/__init__.py").write_text("from gym import envs\n")
    (tmp_path / "gym/envs.py").write_text("registry = {}\n")
    (tmp_path / "words.py").write_text("import gym\n\ngym.envs.registry['Words-v0'] = None\n")
    text = export_text(BARE, provenance("words:Words-v0"), action_space=gymnasium.spaces.Discrete(2))
    (tmp_path / "policy.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "policy.py"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "registered with Gym, not with Gymnasium" in done.stderr
    assert "Traceback" not in done.stderr
