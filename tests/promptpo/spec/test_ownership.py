"""Which modules count as an environment's own."""

import sys
from pathlib import Path
from types import ModuleType

import gymnasium
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from promptpo.spec.code_files import CodeFiles


@pytest.mark.parametrize(
    ("module", "owned"),
    [
        ("gym.helpers", False),
        ("gymnasium.envs.registering", False),
        ("gymnasium.envs.mine.world", True),
        ("gymnastics.world", True),
        ("numpy.helpers", False),
        ("promptpo.helpers", False),
        ("promptpo.demo.world", True),
        ("world", True),
    ],
)
def test_general_modules_are_nobodys_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, owned: bool
) -> None:
    """Not even where they lie in a folder of the user's, as in a checkout, or where the environment's class is from one."""
    loaded = ModuleType(module)
    loaded.__file__ = str(tmp_path / "helpers.py")
    monkeypatch.setitem(sys.modules, module, loaded)
    env = type("Env", (), {"__module__": module})
    for files in (CodeFiles([]), CodeFiles([env])):
        assert files.owns(module) == files.owns_type(env) == owned


@pytest.mark.slow
def test_a_base_class_of_gymnasium_makes_none_of_its_environments_ones_own() -> None:
    """Only an environment's own class does."""
    assert not CodeFiles([gymnasium.Env]).owns(CartPoleEnv.__module__)
    assert CodeFiles([gymnasium.Env, CartPoleEnv]).owns(CartPoleEnv.__module__)
