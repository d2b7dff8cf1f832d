"""Environment ids: helpful errors for unknown ones, entry points for those of installed packages."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from promptpo.envs.building import make_env
from promptpo.envs.importing import ENTRY_POINTS
from promptpo.envs.task import Task
from promptpo.errors import PromptPOError, UnknownEnvironmentError, UsageError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("env_id", "says"),
    [
        ("", "the environment's id is empty"),
        ("tests.promptpo.spec.envs:", "the environment's id is empty"),
        ("./examples/no_room.py:Room", "there is no file ./examples/no_room.py"),
        ("examples/my_room.py", "examples/my_room.py:YourEnv"),
        ("tests.promptpo.spec.envs:Silnt", "did you mean Silent"),
        ("tests.promptpo.spec.envs:gymnasium", "which builds no environment"),
        ("tests.no_such_module:Room", "importing tests.no_such_module raised"),
        ("promptpo", "it is a module, so name an environment in it: promptpo:NAME"),
        ("no_such_module", "Your own environment: module:no_such_module"),
    ],
)
def test_unusable_id_gets_a_helpful_sentence(env_id: str, says: str) -> None:
    """It says what to write instead."""
    with pytest.raises(UsageError) as raised:
        make_env(Task(env_id))
    assert says in str(raised.value)


def test_of_many_names_the_first_are_listed_and_counted() -> None:
    """A package that registers a hundred ids does not fill the screen."""
    with pytest.raises(UnknownEnvironmentError) as raised:
        make_env(Task("gymnasium:zzzzzz"))
    listed, count = re.findall(r"it has (.*) and more, (\d+) in all", str(raised.value))[0]
    assert 3 < len(listed.split(", ")) < int(count)
    assert len(str(raised.value)) < 500


def test_atari_id_names_its_package() -> None:
    """Along with the command that installs it and the full id."""
    import gymnasium

    if any(name.startswith("ALE/") for name in gymnasium.registry):
        pytest.skip("ale-py is installed and registered")
    with pytest.raises(UnknownEnvironmentError, match="pip install ale-py"):
        make_env(Task("ALE/Pong-v5"))


@pytest.mark.parametrize("env_id", ["promptpo/NoiseWorld-6-v0", "promptpo/Chain-v0"])
def test_own_environments_need_no_module_in_their_id(env_id: str, tmp_path: Path) -> None:
    """A fresh process finds them by the entry points that pyproject.toml declares."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][ENTRY_POINTS]
    info = tmp_path / "declared-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: declared\nVersion: 1\n")
    lines = [f"{name} = {module}" for name, module in declared.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINTS}]", *lines]) + "\n")
    code = f"from promptpo.envs.building import make_env; from promptpo.envs.task import Task; make_env(Task({env_id!r}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("Breakout-v0", "ale_py:ALE/Breakout-v5"),
        ("MsPacmanNoFrameskip-v4", "ale_py:ALE/MsPacman-v5"),
        ("Pong-ramDeterministic-v4", "ale_py:ALE/Pong-v5"),
        ("HalfCheetah-v2", "use HalfCheetah-v5"),
        ("LunarLander-v2", "has LunarLander-v3"),
    ],
)
def test_outdated_ids_are_answered_with_current_ones(env_id: str, words: str) -> None:
    """Ids from older tutorials: games without a namespace, and versions that no longer run."""
    with pytest.raises(PromptPOError, match=re.escape(words)):
        make_env(Task(env_id))
