"""Which modules count as the user's own code."""

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
def test_library_modules_are_not_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, owned: bool
) -> None:
    """Neither a checkout in the user's folder nor an environment class from the library makes them so."""
    loaded = ModuleType(module)
    loaded.__file__ = str(tmp_path / "helpers.py")
    monkeypatch.setitem(sys.modules, module, loaded)
    env = type("Env", (), {"__module__": module})
    for files in (CodeFiles([]), CodeFiles([env])):
        assert files.owns(module) == files.owns_type(env) == owned


@pytest.mark.slow
def test_gymnasium_base_class_does_not_make_its_environments_the_users() -> None:
    assert not CodeFiles([gymnasium.Env]).owns(CartPoleEnv.__module__)
    assert CodeFiles([gymnasium.Env, CartPoleEnv]).owns(CartPoleEnv.__module__)
