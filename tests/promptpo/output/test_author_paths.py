"""Exported files and printed text contain no paths of the author's machine; short environment names are completed."""

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
    """A working directory with a telltale name, an environment in it and another in a subfolder."""
    folder = tmp_path / "jane-doe-secret" / "project"
    (folder / "plants").mkdir(parents=True)
    for name in ("depot.py", "plants/depot.py"):
        (folder / name).write_text(DEPOT)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{home}/depot.py:Depot", "plants/depot.py:Depot"])
def test_shared_files_have_no_path_of_the_authors_machine(
    home: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Searches and baselines use wrappers and variants."""
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
        captured = capsys.readouterr()
        assert home.parent.name not in captured.out + captured.err, each
    shared = [*Path().rglob("*.html"), *Path("m").iterdir(), Path("policy.py"), Path("run/best.py")]
    assert len(shared) >= 7
    for file in shared:
        assert home.parent.name not in file.read_text(), file
    for policy in ("policy.py", "run/best.py"):
        done = run_file(Path(policy).absolute(), "--episodes", "1")
        assert done.returncode == 0, done.stderr
        task = task_of(Path(policy).read_text())
        assert task is not None
        assert not Path(task.env_id).is_absolute()


@pytest.mark.slow
@pytest.mark.parametrize("named", ["depot.py:Depot", "depot:Depot", "plant:Plant-v0"])
def test_exported_file_reports_its_missing_module(
    home: Path, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error suggests --env."""
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
def test_file_with_one_environment_needs_no_class_name(home: Path, typed: str, meant: str) -> None:
    """Base classes and wrappers do not count; any class with `reset` and `step` does."""
    (home / "yard").mkdir()
    (home / "yard" / "__init__.py").write_text("from .pond import Pond\n")
    (home / "yard" / "pond.py").write_text(POND)
    assert complete_name(typed) == meant
    if meant != "nowhere" and "." not in meant:
        assert Task(meant).label == meant


def test_file_with_several_environments_is_ambiguous(home: Path) -> None:
    """The error lists them."""
    (home / "depot.py").write_text(DEPOT + "\n\nclass Yard(Base):\n    pass\n")
    with pytest.raises(UsageError, match="Depot, Yard"):
        complete_name("depot.py")


def test_misspelt_class_is_suggested(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the file as the user typed it."""
    (home / "pond.py").write_text(POND)
    assert run(["optimize", "pond.py:Pnd"]) == 2
    captured = capsys.readouterr().err
    assert "did you mean Pond?" in captured
    assert home.parent.name not in captured
    assert run(["optimize", "gone.py:Pond"]) == 2
    assert home.parent.name not in capsys.readouterr().err
