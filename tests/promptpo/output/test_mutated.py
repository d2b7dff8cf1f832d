"""Runs with mutated files: whatever is asked of them ends in a sentence, and their neighbours are read all the same."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.run.config_file import load_config
from promptpo.run.origin import save_own
from promptpo_sandbox.reader import READER_LIMITS, reader

RECORDED = Path(__file__).parents[1] / "core" / "recorded"
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**70, 1e308, float("nan"), float("inf"), "", "x", "../../x", "\u202e\x1b[2J", "9" * 5000,
    [], {}, [[]], [None] * 3, {"a": {}}, {"": None}, [1, "a", {}],
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value inside of a JSON value."""
    found = [path] if path else []
    if isinstance(value, dict):
        return found + [inner for key, item in value.items() for inner in places(item, (*path, key))]
    if isinstance(value, list):
        return found + [inner for n, item in enumerate(value[:6]) for inner in places(item, (*path, n))]
    return found


def mutated(chance: random.Random, value: Any) -> Any:
    """The value with one to three of its parts taken out or replaced."""
    value = copy.deepcopy(value)
    for _ in range(chance.randrange(1, 4)):
        known = places(value)
        if not known:
            return chance.choice(ODD)
        *path, last = chance.choice(known)
        inner = value
        for step in path:
            inner = inner[step]
        what = chance.randrange(4)
        if what == 0:
            del inner[last]
        elif what == 1 and isinstance(inner, dict):
            inner[str(last) + "x"] = inner.pop(last)
        else:
            inner[last] = copy.deepcopy(chance.choice(ODD))
    return value


def mutate(chance: random.Random, directory: Path) -> None:
    """Change one to five lines of a journal, or the result."""
    result, journal = directory / "result.json", directory / "journal.jsonl"
    if chance.random() < 0.25:
        result.write_text(json.dumps(mutated(chance, json.loads(result.read_text()))))
        return
    if chance.random() < 0.5:
        result.unlink()
    lines = journal.read_text().splitlines()
    for _ in range(chance.randrange(1, 6)):
        n = chance.randrange(len(lines))
        event = json.loads(lines[n]) or {}
        event["data"] = mutated(chance, event.get("data"))
        if chance.random() < 0.1:
            event = mutated(chance, event)
        lines[n] = json.dumps(event)
    if chance.random() < 0.1:
        del lines[chance.randrange(len(lines))]
    journal.write_text("\n".join(lines) + "\n")


def asked(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says; it ends with a code, never with a traceback."""
    code = run(arguments)
    said = capsys.readouterr()
    assert code in {0, 1, 2}
    assert "Traceback" not in said.out + said.err
    assert "\x1b[2J" not in said.out + said.err
    return said.out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["model", "search"])
def test_mutated_runs_end_in_a_sentence(
    name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Looked at in every way, a run that holds anything is a sentence; beside it another one is listed."""
    chance = random.Random(f"{name}{seed}")
    folder, here = tmp_path / "runs", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for one in ("bad", "good"):
        shutil.copytree(RECORDED / name, folder / one)
    bad = folder / "bad"
    mutate(chance, bad)
    before = {path.name: path.read_bytes() for path in bad.iterdir()}
    asked(["show", str(bad)], capsys)
    asked(["show", str(bad), "--json"], capsys)
    listed = json.loads(asked(["list", str(folder), "--json"], capsys))
    assert str(folder / "good") in [line["run"] for line in listed["runs"]]
    asked(["list", str(folder), "--html", "-o", str(here / "runs.html")], capsys)
    asked(["compare", str(folder / "good"), str(bad)], capsys)
    asked(["report", str(bad), "--no-film"], capsys)
    asked(["export", str(bad)], capsys)
    asked(["resume", str(bad)], capsys)
    assert {path.name: path.read_bytes() for path in bad.iterdir()} == before  # nobody writes into it


RAW = {
    "deep lists": "[" * 10**5 + "]" * 10**5,
    "deep objects": '{"a":' * 10**5 + "1" + "}" * 10**5,
    "open lists": "[" * 10**5,
    "long number": "7" * 10**6,
    "number of 4,000 digits": "7" * 4000,
    "NaN": "NaN",
    "infinite": "-1e999",
    "half of a character": r'"a \ud800 b"',
    "null character": r'"\u0000"',
    "key twice": '{"a": 1, "a": {"a": []}, "\\udfff": 2}',
    "long text": '"' + "\u200b" * 10**5 + '"',
    "many keys": "{" + ", ".join(f'"k{n}": {n}' for n in range(10**5)) + "}",
}
"""Values as they may stand in a file, whether or not anything writes them so."""
COMMANDS = ("export", "report", "resume")
"""Besides `show`; each of them meets each file with a third of the values."""


def raw_in(text: str, value: str, chance: random.Random) -> str:
    """A JSON text in which one of its values is written so."""
    content = json.loads(text)
    *path, last = chance.choice(places(content))
    inner = content
    for step in path:
        inner = inner[step]
    inner[last] = "PUT IN"
    return json.dumps(content).replace('"PUT IN"', value)


@pytest.mark.parametrize("raw", RAW)
def test_values_that_nothing_writes(
    raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every file of a run: looking at it ends in a sentence, in no time, and never keeps a neighbour from the list."""
    chance = random.Random(raw)
    folder, here = tmp_path / "runs", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    shutil.copytree(RECORDED / "model", folder / "good")
    for n, name in enumerate(("journal.jsonl", "result.json", "config.toml")):
        bad = folder / f"bad {name}"
        shutil.copytree(RECORDED / "model", bad)
        file = bad / name
        if name == "journal.jsonl":
            lines = file.read_text().splitlines()
            where = chance.randrange(len(lines))
            lines[where] = raw_in(lines[where], RAW[raw], chance)
            file.write_text("\n".join(lines) + "\n")
        elif name == "result.json":
            file.write_text(raw_in(file.read_text(), RAW[raw], chance))
        else:
            lines = file.read_text().splitlines()
            where = chance.choice([i for i, line in enumerate(lines) if " = " in line])
            lines[where] = lines[where].partition(" = ")[0] + " = " + RAW[raw].replace("NaN", "nan")
            file.write_text("\n".join(lines) + "\n")
        asked(["show", str(bad)], capsys)
        asked([(COMMANDS * 2)[n + list(RAW).index(raw) % 3], str(bad)], capsys)
    listed = json.loads(asked(["list", str(folder), "--json"], capsys))
    assert str(folder / "good") in [line["run"] for line in listed["runs"]]


@pytest.mark.parametrize("seed", range(4))
def test_mutated_runs_of_ones_own_go_on_or_end_in_a_sentence(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that was made here executes; what does not fit together in it is a sentence all the same."""
    chance = random.Random(seed)
    bad = tmp_path / "bad"
    shutil.copytree(RECORDED / "search", bad)
    save_own(load_config(bad / "config.toml"), bad)
    mutate(chance, bad)
    asked(["resume", str(bad), "--quiet", "--max-seconds", "1"], capsys)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("config.toml", "a" + ".a" * 32_000 + " = 1\n"),
        ("config.toml", "[a" + ".a" * 400_000 + "]\n"),
        ("config.toml", "# " + "x" * 100_000 + "\n"),
        ("journal.jsonl", '{"n": 0, "data": [' + "[]," * (1 << 23) + "[]]}\n"),
        ("result.json", "[" + "{}," * (1 << 23) + "{}]"),
    ],
    ids=["dotted key", "dotted header", "harmless", "many lists", "many objects"],
)
def test_files_that_would_take_long_or_much(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is a sentence soon; a long file that is none of them is read."""
    monkeypatch.setattr(
        reader, "_limits", replace(READER_LIMITS, call_seconds=0.2)
    )  # of work, where 1 ms is enough
    reader.close()
    monkeypatch.chdir(tmp_path)
    for one in ("bad", "good"):
        shutil.copytree(RECORDED / "model", tmp_path / one)
    file = tmp_path / "bad" / name
    file.write_text(line + file.read_text())
    began = time.process_time()
    assert run(["show", "bad"]) == (0 if line.startswith("#") else 1)
    said = asked(["list", ".", "--json"], capsys)
    assert "good" in [line["run"] for line in json.loads(said[said.index("{") :])["runs"]]
    assert time.process_time() - began < 8


def test_defaults_that_cannot_be_read_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe is not waited for, depth is no traceback, and what help shows of them is clean."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "promptpo.toml"
    path.write_text("[optimize]\nx = " + "[" * 10_000)
    assert run(["show", "run"]) == 2
    path.write_text('[optimize]\nhint = "\\u001b[2J\\u202e"\n')
    assert run(["optimize", "--help"]) == 0
    said = capsys.readouterr()
    assert not {"\x1b", "\u202e"} & set(said.out + said.err)
    assert said.err.count("\n") == 1
    path.unlink()
    os.mkfifo(path)
    assert run(["show", "run"]) == 2
