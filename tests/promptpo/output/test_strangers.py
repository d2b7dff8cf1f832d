"""Foreign runs can do no more than was requested."""

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


def test_atomic_write_follows_no_link(tmp_path: Path) -> None:
    """The temporary name or the target may be a link."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    target = tmp_path / "report.html"
    for name in (f".report.html.{os.getpid()}", "report.html"):
        (tmp_path / name).symlink_to(precious)
    write_atomically(target, "theirs")
    assert precious.read_text() == "mine"
    assert target.read_text() == "theirs"
    assert not target.is_symlink()


def test_pipe_is_not_read_as_a_journal(tmp_path: Path) -> None:
    """Reading it would wait for a writer."""
    os.mkfifo(tmp_path / "journal.jsonl")
    with pytest.raises(NoSuchRunError):
        read_events(tmp_path / "journal.jsonl")


def test_rejected_code_is_not_exported() -> None:
    check_gate("class Policy:\n    def act(self, obs):\n        return 0\n")
    with pytest.raises(RunError, match="the gate refuses it: line 1: the module os"):
        check_gate("import os\nclass Policy:\n    def act(self, obs):\n        return 0\n")


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "a/b", "", ".x", "x" * 200])
def test_candidate_ids_must_be_file_names(tmp_path: Path, name: str) -> None:
    """An id in a journal must not lead out of the run."""

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
def test_invalid_seeds_file_is_an_error(
    seeds: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Names may lead out of the folder or be too many; nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "seeds.json").write_text('{"seeds": ' + seeds + "}")
    assert run([words[0], "folder", *words[1:]]) == 1
    captured = capsys.readouterr().err
    assert captured.count("\n") == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "seeds.json"]


@pytest.mark.parametrize("episodes", [10**7, 2**62])
def test_number_of_test_episodes_is_bounded(
    episodes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bound is checked before seeds are listed."""
    bad = tmp_path / "bad"
    shutil.copytree(RECORDED / "search", bad)
    config = bad / "config.toml"
    config.write_text(re.sub(r"(?m)^test_episodes = .*$", f"test_episodes = {episodes}", config.read_text()))
    began = time.process_time()
    assert run(["list", str(tmp_path)]) == 0
    assert "test_episodes Input should be less than or equal to 100000" in capsys.readouterr().err
    assert time.process_time() - began < 2


def test_journal_cannot_raise_the_number_of_test_episodes(tmp_path: Path) -> None:
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
def test_parsing_of_exponential_dicts_is_fast(source: str) -> None:
    """PARAMS that cannot be evaluated cheaply are ignored."""
    began = time.process_time()
    assert not Program.from_source(
        source + "class Policy:\n    def act(self, obs):\n        return 0\n"
    ).params
    assert time.process_time() - began < 1


@pytest.fixture
def foreign_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that someone else made."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(RECORDED / "search", tmp_path / "foreign_run"))


def set_task(run: Path, **settings: str) -> None:
    """Change settings of the environment in a run's configuration."""
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
def test_foreign_environment_names_are_not_exported_without_trust(
    foreign_run: Path, named: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Only Gymnasium's own, trusted or replaced names become code."""
    set_task(foreign_run, **named)
    out = Path("theirs.py")
    assert run(["export", str(foreign_run), "-o", str(out)]) == 2
    captured = capsys.readouterr().err
    assert captured.count("\n") == 1
    assert "--trust" in captured
    assert not out.exists()
    assert run(["evaluate", str(foreign_run), "--episodes", "1"]) == 2
    assert run(["export", str(foreign_run), "-o", str(out), "--env", "CartPole-v1"]) == 0
    assert task_of(out.read_text()) == Task("CartPole-v1")
    out.unlink()
    assert run(["export", str(foreign_run), "-o", str(out), "--trust"]) == 0


@pytest.mark.parametrize("count", [2 * 10**9, 10**15])
def test_huge_episode_counts_cost_nothing(foreign_run: Path, count: int) -> None:
    """A result may claim any number of test episodes."""
    result = foreign_run / "result.json"
    found = json.loads(result.read_text())
    found["test"]["episodes"] = count
    result.write_text(json.dumps(found))
    began = time.process_time()
    assert run(["export", str(foreign_run), "-o", "theirs.py"]) in {0, 1}
    assert time.process_time() - began < 5


def pack_bomb(kind: str, limit: int) -> bytes:
    """Return packed data that unpacks into too many values or colliding keys."""
    if kind == "one hash":
        keys = (str((2**61 - 1) * (k + 1)).encode() for k in range(200_000))
        parts = b"".join(b"I" + struct.pack("<I", len(key)) + key + b"N" for key in keys)
        return b"d" + struct.pack("<I", 200_000) + parts
    item = {"dicts": b"d", "lists": b"l", "tuples": b"t", "texts": b"s"}[kind] + struct.pack("<I", 0)
    return b"l" + struct.pack("<I", limit + 9) + item * (limit + 9)


@pytest.mark.parametrize(
    ("kind", "limit"),
    [
        *((kind, 1000) for kind in ("one hash", "texts", "dicts", "lists", "tuples")),
        pytest.param("dicts", MAX_UNTRUSTED_VALUES, marks=pytest.mark.slow),
    ],
)
def test_packed_rollouts_are_bounded(kind: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Foreign data is rejected before it takes time or memory."""
    monkeypatch.setitem(decode.__kwdefaults__, "max_values", limit)
    text = base64.b85encode(zlib.compress(pack_bomb(kind, limit))).decode()
    began = time.process_time()
    with pytest.raises(ValueError, match=r"key|values"):
        inflate(text)
    assert time.process_time() - began < 20


def test_size_of_foreign_journals_is_bounded(foreign_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (foreign_run / "journal.jsonl").open("a") as file:
        file.write("a" * (MAX_STRANGERS_FILE_BYTES + 1))
    for command in ("show", "export", "report"):
        assert run([command, str(foreign_run)]) == 1
        captured = capsys.readouterr().err
        assert captured.count("\n") == 1
        assert "not made here" in captured
