"""Nothing that is handed on tells where on the author's machine an environment lies; names are completed, and missing ones told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from promptpo.cli.app import run
from promptpo.envs.objects import complete_name
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.output.exporting import task_of
from tests.promptpo.commands import run_file

DEPOT = '''
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Base(gym.Env):
    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)
    metadata = {"render_modes": []}

    def __init__(self, render_mode=None, size=1):
        self.size = size

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.x = 0, float(self.np_random.uniform(-0.1, 0.1))
        return np.array([self.x], np.float32), {}

    def step(self, action):
        self.t += 1
        self.x = float(np.clip(self.x + (0.05 if action else -0.05), -1, 1))
        return np.array([self.x], np.float32), -abs(self.x), False, self.t >= 10, {}


class Depot(Base):
    """A tram that is to stand at 0."""


class Quiet(gym.Wrapper):
    """Changes nothing."""
'''
POND = "class Pond:\n    def reset(self): ...\n    def step(self, action): ...\n"
PLANT = (
    "import gymnasium as gym\n"
    "import base\n"
    'gym.register("Plant-v0", entry_point=base.Depot, max_episode_steps=10)\n'
)

CHEAP = "--model search --rounds 1 -n 1 --max-steps 400 --episodes 2 --validation-episodes 2 --test-episodes 2 --no-film --tune none"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a tell-tale name, an environment in it and another one below it."""
    folder = tmp_path / "jane-doe-secret" / "project"
    (folder / "plants").mkdir(parents=True)
    for name in ("depot.py", "plants/depot.py"):
        (folder / name).write_text(DEPOT)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{home}/depot.py:Depot", "plants/depot.py:Depot"])
def test_what_is_handed_on_has_no_path_of_the_authors_machine(
    home: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages, policies, monitor files and what commands print, by search and by baseline, in wrappers and variants too."""
    env = form.format(home=home)
    wrapped = ["--wrapper", f"{home}/depot.py:Quiet", "--env-kwargs", "size=1", "--env-kwargs", "size=2"]
    words = [
        ["optimize", env, *CHEAP.split(), *wrapped, "--out", "run", "--track", "monitor:m/monitor.csv"],
        ["baseline", "random", env, "--test-episodes", "2", "--validation-episodes", "2", "--out", "base"],
        ["show", "run"], ["show", "base"], ["report", "base"], ["list", ".", "--html"], ["compare", "run", "base"],
        ["export", "run", "-o", "policy.py"], ["evaluate", "policy.py", "--episodes", "1"], ["evaluate", "run", "--episodes", "1"],
        ["track", "base", "--to", "monitor:m/base.csv"],
    ]  # fmt: skip
    Path("m").mkdir()
    for each in words:
        assert run(each) == 0, each
        said = capsys.readouterr()
        assert home.parent.name not in said.out + said.err, each
    handed = [*Path().rglob("*.html"), *Path("m").iterdir(), Path("policy.py"), Path("run/best.py")]
    assert len(handed) >= 7
    for file in handed:
        assert home.parent.name not in file.read_text(), file
    for policy in ("policy.py", "run/best.py"):
        done = run_file(Path(policy).absolute(), "--episodes", "1")
        assert done.returncode == 0, done.stderr
        task = task_of(Path(policy).read_text())
        assert task is not None
        assert not Path(task.env_id).is_absolute()


@pytest.mark.slow
@pytest.mark.parametrize("named", ["depot.py:Depot", "depot:Depot", "plant:Plant-v0"])
def test_an_exported_file_without_its_module_says_so(
    home: Path, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a sentence with what to do, whichever way the environment was named."""
    (home / "base.py").write_text(DEPOT)
    (home / "plant.py").write_text(PLANT)
    assert run(["optimize", named, *CHEAP.split(), "--out", "run"]) == 0
    (tmp_path / "elsewhere").mkdir()
    policy = tmp_path / "elsewhere" / "policy.py"
    assert run(["export", "run", "-o", str(policy)]) == 0
    done = subprocess.run(
        [sys.executable, str(policy), "--episodes", "1"], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "--env" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("depot", "depot:Depot"), ("depot.py", "depot.py:Depot"), ("./depot.py", "./depot.py:Depot"),
        ("depot.Depot", "depot:Depot"), ("plants/depot.py", "plants/depot.py:Depot"),
        ("CartPole-v1", "CartPole-v1"), ("depot:Depot", "depot:Depot"), ("nowhere", "nowhere"), ("no.where", "no.where"),
    ],
)  # fmt: skip
def test_a_file_with_one_environment_may_be_named_alone(home: Path, typed: str, meant: str) -> None:
    """Or a package; base classes and wrappers in it are no others, any class with reset and step is one; a full name stays."""
    (home / "yard").mkdir()
    (home / "yard" / "__init__.py").write_text("from .pond import Pond\n")
    (home / "yard" / "pond.py").write_text(POND)
    assert complete_name(typed) == meant
    if meant != "nowhere" and "." not in meant:
        assert Task(meant).label == meant


def test_a_file_with_several_environments_asks_which(home: Path) -> None:
    """In a sentence that lists them."""
    (home / "depot.py").write_text(DEPOT + "\n\nclass Yard(Base):\n    pass\n")
    with pytest.raises(UsageError, match="Depot, Yard"):
        complete_name("depot.py")


def test_a_misspelt_class_without_a_base_is_recognised(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a sentence that names the file as it was typed."""
    (home / "pond.py").write_text(POND)
    assert run(["optimize", "pond.py:Pnd"]) == 2
    said = capsys.readouterr().err
    assert "did you mean Pond?" in said
    assert home.parent.name not in said
    assert run(["optimize", "gone.py:Pond"]) == 2
    assert home.parent.name not in capsys.readouterr().err
