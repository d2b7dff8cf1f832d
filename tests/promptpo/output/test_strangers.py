"""What a run that somebody else made can bring about: nothing beyond what it is asked for."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from promptpo.errors import NoSuchRunError, RunError
from promptpo.files import write_atomically
from promptpo.output.exporting import gated
from promptpo.output.world import environment_module
from promptpo.program import Program
from promptpo.run.journal import read_events
from promptpo.session import results


def test_what_is_written_through_follows_no_link(tmp_path: Path) -> None:
    """A link under the name of a half written file leads nowhere, and one under the file's own is replaced."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    target = tmp_path / "report.html"
    for name in (f".report.html.{os.getpid()}", "report.html"):
        (tmp_path / name).symlink_to(precious)
    write_atomically(target, "theirs")
    assert precious.read_text() == "mine"
    assert target.read_text() == "theirs"
    assert not target.is_symlink()


def test_a_pipe_is_no_journal(tmp_path: Path) -> None:
    """Nobody waits for a writer."""
    os.mkfifo(tmp_path / "journal.jsonl")
    with pytest.raises(NoSuchRunError):
        read_events(tmp_path / "journal.jsonl")


def test_what_the_gate_refuses_is_not_exported() -> None:
    """Neither a policy nor a reward becomes a file to be run."""
    gated("class Policy:\n    def act(self, obs):\n        return 0\n")
    with pytest.raises(RunError, match="the gate refuses it: line 1: the module os"):
        gated("import os\nclass Policy:\n    def act(self, obs):\n        return 0\n")


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "a/b", "", ".x", "x" * 200])
def test_candidates_are_called_as_files_may_be(tmp_path: Path, name: str) -> None:
    """No name of a journal leads out of the run."""

    @dataclass
    class Candidate:
        source: str = "x = 1\n"

    @dataclass
    class Attempt:
        id: str
        candidate: Candidate = field(default_factory=Candidate)

    run = tmp_path / "deep" / "run"
    run.mkdir(parents=True)
    attempts: list[Any] = [Attempt(name)]
    with pytest.raises(RunError, match="which is no file's name"):
        results._write_policies(run, attempts)
    assert [path.name for path in tmp_path.rglob("*")] == ["deep", "run", "policies"]


WORLD = """
class World:
    def __init__(self, obs, rng):
        self.obs = obs
    def step(self, action):
        return self.obs, 0.0, False
    def sync(self, obs):
        self.obs = obs
"""


@pytest.mark.parametrize(
    ("field_name", "value"),
    [
        ("source", "import os" + WORLD),
        ("start", "__import__('os').getcwd()"),
        ("start", "np.load('x')"),
        ("written", ["spaces.Discrete(2) if print(1) else 0", "spaces.Discrete(2)"]),
        ("written", ["spaces.Discrete(2)", "(lambda: 0)()"]),
    ],
)
def test_a_world_of_a_journal_is_no_code(field_name: str, value: Any) -> None:
    """Spaces and starts are plain expressions, and the model has passed the gate."""
    data = {
        "source": WORLD,
        "steps": 1,
        "score": {},
        "starts": [0],
        "horizon": 10,
        "written": ["spaces.Discrete(2)", "spaces.Discrete(2)"],
        "start": "int(start)",
    }
    with pytest.raises(RunError):
        environment_module({**data, field_name: value}, "X-v0")


@pytest.mark.parametrize(
    "source",
    [
        "A = {**A}\nPARAMS = {**A}\n",
        "B0 = {'a': 1.0}\n"
        + "".join(f"B{n} = {{**B{n - 1}, **B{n - 1}}}\n" for n in range(1, 41))
        + "PARAMS = {**B40}\n",
    ],
)
def test_dicts_that_spread_themselves_are_read_at_once(source: str) -> None:
    """What cannot be read off is left out, in no time."""
    began = time.process_time()
    assert not Program.parse(source + "class Policy:\n    def act(self, obs):\n        return 0\n").params
    assert time.process_time() - began < 1
