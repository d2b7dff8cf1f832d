"""A run that somebody else made can do nothing beyond what it is asked for."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import struct
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.core.journal import Event, read_events
from promptpo.envs.task import Task
from promptpo.errors import NoSuchRunError, RunError
from promptpo.files import write_atomically
from promptpo.output.exporting import check_gate, task_of
from promptpo.program import Program
from promptpo.rollouts.packed import inflate
from promptpo.run.config_file import load_config
from promptpo.run.origin import MAX_STRANGERS_FILE_BYTES
from promptpo.run.state import RunState
from promptpo.session import results
from promptpo_sandbox.guest.plain import MAX_UNTRUSTED_VALUES, decode

RECORDED = Path(__file__).parents[1] / "core" / "recorded"


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
    check_gate("class Policy:\n    def act(self, obs):\n        return 0\n")
    with pytest.raises(RunError, match="the gate refuses it: line 1: the module os"):
        check_gate("import os\nclass Policy:\n    def act(self, obs):\n        return 0\n")


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
    with pytest.raises(RunError, match="not a file name"):
        results._write_policies(run, attempts)
    assert [path.name for path in tmp_path.rglob("*")] == ["deep", "run", "policies"]


@pytest.mark.parametrize(
    "seeds", ["[1" + "0" * 300 + "]", '["../../x"]', "[" + "0, " * 2000 + "0]", "5", "[[0]]", "{}x"]
)
@pytest.mark.parametrize("words", [["show"], ["export"], ["report", "--no-film"], ["resume"]])
def test_a_folder_of_seeds_names_a_few_runs_in_it(
    seeds: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Names that lead out, or too many of them, are a sentence; nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "seeds.json").write_text('{"seeds": ' + seeds + "}")
    assert run([words[0], "folder", *words[1:]]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "seeds.json"]


@pytest.mark.parametrize("episodes", [10**7, 2**62])
def test_test_episodes_are_bounded(episodes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that claims more than anybody plays is a sentence that says so, before its seeds are listed."""
    bad = tmp_path / "bad"
    shutil.copytree(RECORDED / "search", bad)
    config = bad / "config.toml"
    config.write_text(re.sub(r"(?m)^test_episodes = .*$", f"test_episodes = {episodes}", config.read_text()))
    began = time.process_time()
    assert run(["list", str(tmp_path)]) == 0
    assert "test_episodes Input should be less than or equal to 100000" in capsys.readouterr().err
    assert time.process_time() - began < 2


def test_a_decision_plans_no_more_test_episodes_than_the_configuration(tmp_path: Path) -> None:
    """However many a journal says."""
    bad = tmp_path / "bad"
    shutil.copytree(RECORDED / "search", bad)
    state = RunState(load_config(bad / "config.toml"))
    state.add(Event(0, 0.0, "decision", "test.x.4", {"episodes": 10**12}))
    assert state.planned_test == 4


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
    assert not Program.from_source(
        source + "class Policy:\n    def act(self, obs):\n        return 0\n"
    ).params
    assert time.process_time() - began < 1


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that somebody else made."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(RECORDED / "search", tmp_path / "stranger"))


def change_task(run: Path, **settings: str) -> None:
    """Have a run's configuration say something else of its environment."""
    config = run / "config.toml"
    text = config.read_text()
    for name, value in settings.items():
        text = re.sub(rf"(?m)^{name} = .*$\n?", "", text)
        text = text.replace("[task]\n", f"[task]\n{name} = {value}\n")
    config.write_text(text)


@pytest.mark.parametrize(
    "named",
    [
        {"env_id": '"os:system"'},
        {"env_id": '"os:system()"'},
        {"env_id": '"subprocess:getoutput"'},
        {"env_id": '"./their.py:Env"'},
        {"env_id": '"ale_py:ALE/Pong-v5"'},
        {"wrappers": '[{name = "os:system"}]'},
        {"wrappers": '[{name = "FlattenObservation"}]'},
        {"variants": '[{env_kwargs = {command = "x"}}]'},
        {"max_episode_steps": "1000000000"},
    ],
    ids=str,
)
def test_what_is_not_built_here_is_not_written_as_code_that_builds_it(
    stranger: Path, named: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A stranger's names become a file of ours only where they are Gymnasium's own, or trusted, or replaced."""
    change_task(stranger, **named)
    out = Path("theirs.py")
    assert run(["export", str(stranger), "-o", str(out)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "--trust" in said
    assert not out.exists()
    assert run(["evaluate", str(stranger), "--episodes", "1"]) == 2
    assert run(["export", str(stranger), "-o", str(out), "--env", "CartPole-v1"]) == 0
    assert task_of(out.read_text()) == Task("CartPole-v1")
    out.unlink()
    assert run(["export", str(stranger), "-o", str(out), "--trust"]) == 0


@pytest.mark.parametrize("count", [2 * 10**9, 10**15])
def test_counts_are_not_made_into_lists(stranger: Path, count: int) -> None:
    """A result that claims more test episodes than anybody plays costs no more than one that does not."""
    result = stranger / "result.json"
    found = json.loads(result.read_text())
    found["test"]["episodes"] = count
    result.write_text(json.dumps(found))
    began = time.process_time()
    assert run(["export", str(stranger), "-o", "theirs.py"]) in {0, 1}
    assert time.process_time() - began < 5


def packed(kind: str, most: int) -> bytes:
    """What unpacks into far more than it seems to hold, and into more values than may be."""
    if kind == "one hash":
        keys = (str((2**61 - 1) * (k + 1)).encode() for k in range(200_000))
        parts = b"".join(b"I" + struct.pack("<I", len(key)) + key + b"N" for key in keys)
        return b"d" + struct.pack("<I", 200_000) + parts
    item = {"dicts": b"d", "lists": b"l", "tuples": b"t", "texts": b"s"}[kind] + struct.pack("<I", 0)
    return b"l" + struct.pack("<I", most + 9) + item * (most + 9)


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        *((kind, 1000) for kind in ("one hash", "texts", "dicts", "lists", "tuples")),
        pytest.param("dicts", MAX_UNTRUSTED_VALUES, marks=pytest.mark.slow),
    ],
)
def test_packed_rollouts_are_bounded(kind: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a stranger packs is refused before it takes time or memory."""
    monkeypatch.setitem(decode.__kwdefaults__, "max_values", most)
    text = base64.b85encode(zlib.compress(packed(kind, most))).decode()
    began = time.process_time()
    with pytest.raises(ValueError, match=r"key|values"):
        inflate(text)
    assert time.process_time() - began < 20


def test_a_strangers_journal_is_bounded(stranger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of any size would take as long as its author likes."""
    with (stranger / "journal.jsonl").open("a") as file:
        file.write("a" * (MAX_STRANGERS_FILE_BYTES + 1))
    for command in ("show", "export", "report"):
        assert run([command, str(stranger)]) == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "not made here" in said
