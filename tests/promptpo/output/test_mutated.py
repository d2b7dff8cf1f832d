"""Runs with mutated files: every command ends in a sentence, and other runs stay readable."""

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


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path to every value within a JSON value."""
    found = [path] if path else []
    if isinstance(value, dict):
        return found + [inner for key, item in value.items() for inner in paths_in(item, (*path, key))]
    if isinstance(value, list):
        return found + [inner for n, item in enumerate(value[:6]) for inner in paths_in(item, (*path, n))]
    return found


def mutate_value(chance: random.Random, value: Any) -> Any:
    """Return the value with one to three parts removed or replaced."""
    value = copy.deepcopy(value)
    for _ in range(chance.randrange(1, 4)):
        known = paths_in(value)
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


def mutate_run(chance: random.Random, directory: Path) -> None:
    """Change one to five lines of a journal, or the result."""
    result, journal = directory / "result.json", directory / "journal.jsonl"
    if chance.random() < 0.25:
        result.write_text(json.dumps(mutate_value(chance, json.loads(result.read_text()))))
        return
    if chance.random() < 0.5:
        result.unlink()
    lines = journal.read_text().splitlines()
    for _ in range(chance.randrange(1, 6)):
        n = chance.randrange(len(lines))
        event = json.loads(lines[n]) or {}
        event["data"] = mutate_value(chance, event.get("data"))
        if chance.random() < 0.1:
            event = mutate_value(chance, event)
        lines[n] = json.dumps(event)
    if chance.random() < 0.1:
        del lines[chance.randrange(len(lines))]
    journal.write_text("\n".join(lines) + "\n")


def command_output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output of a command that must end without a traceback."""
    code = run(arguments)
    captured = capsys.readouterr()
    assert code in {0, 1, 2}
    assert "Traceback" not in captured.out + captured.err
    assert "\x1b[2J" not in captured.out + captured.err
    return captured.out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["model", "search"])
def test_foreign_mutated_run_is_handled(
    name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run itself stays unchanged, and its neighbour is listed."""
    chance = random.Random(f"{name}{seed}")
    folder, here = tmp_path / "runs", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for copy_name in ("bad", "good"):
        shutil.copytree(RECORDED / name, folder / copy_name)
    bad = folder / "bad"
    mutate_run(chance, bad)
    before = {path.name: path.read_bytes() for path in bad.iterdir()}
    command_output(["show", str(bad)], capsys)
    command_output(["show", str(bad), "--json"], capsys)
    listed = json.loads(command_output(["list", str(folder), "--json"], capsys))
    assert str(folder / "good") in [line["run"] for line in listed["runs"]]
    command_output(["list", str(folder), "--html", "-o", str(here / "runs.html")], capsys)
    command_output(["compare", str(folder / "good"), str(bad)], capsys)
    command_output(["report", str(bad), "--no-film"], capsys)
    command_output(["export", str(bad)], capsys)
    command_output(["resume", str(bad)], capsys)
    assert {path.name: path.read_bytes() for path in bad.iterdir()} == before  # no command may write into it


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
"""JSON texts that promptpo never writes, but a file may contain."""
COMMANDS = ("export", "report", "resume")
"""Commands besides `show`; each runs on each file with a third of the values."""


def insert_raw(text: str, value: str, chance: random.Random) -> str:
    """Return a JSON text with one value replaced by raw text."""
    content = json.loads(text)
    *path, last = chance.choice(paths_in(content))
    inner = content
    for step in path:
        inner = inner[step]
    inner[last] = "PUT IN"
    return json.dumps(content).replace('"PUT IN"', value)


@pytest.mark.parametrize("raw", RAW)
def test_unusual_json_is_handled_quickly(
    raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may occur in every file of a run; other runs stay listed."""
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
            lines[where] = insert_raw(lines[where], RAW[raw], chance)
            file.write_text("\n".join(lines) + "\n")
        elif name == "result.json":
            file.write_text(insert_raw(file.read_text(), RAW[raw], chance))
        else:
            lines = file.read_text().splitlines()
            where = chance.choice([i for i, line in enumerate(lines) if " = " in line])
            lines[where] = lines[where].partition(" = ")[0] + " = " + RAW[raw].replace("NaN", "nan")
            file.write_text("\n".join(lines) + "\n")
        command_output(["show", str(bad)], capsys)
        command_output([(COMMANDS * 2)[n + list(RAW).index(raw) % 3], str(bad)], capsys)
    listed = json.loads(command_output(["list", str(folder), "--json"], capsys))
    assert str(folder / "good") in [line["run"] for line in listed["runs"]]


@pytest.mark.parametrize("seed", range(4))
def test_own_mutated_run_resumes_or_is_rejected(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Own runs may execute code, unlike foreign ones."""
    chance = random.Random(seed)
    bad = tmp_path / "bad"
    shutil.copytree(RECORDED / "search", bad)
    save_own(load_config(bad / "config.toml"), bad)
    mutate_run(chance, bad)
    command_output(["resume", str(bad), "--quiet", "--max-seconds", "1"], capsys)


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
def test_files_that_are_slow_to_parse_are_rejected_soon(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long but harmless file is read."""
    limits = replace(READER_LIMITS, call_seconds=0.2, wall_factor=1000.0)  # CPU time; 1 ms suffices
    monkeypatch.setattr(reader, "_limits", limits)
    reader.close()
    monkeypatch.chdir(tmp_path)
    for copy_name in ("bad", "good"):
        shutil.copytree(RECORDED / "model", tmp_path / copy_name)
    file = tmp_path / "bad" / name
    file.write_text(line + file.read_text())
    began = time.process_time()
    assert run(["show", "bad"]) == (0 if line.startswith("#") else 1)
    captured = command_output(["list", ".", "--json"], capsys)
    assert "good" in [line["run"] for line in json.loads(captured[captured.index("{") :])["runs"]]
    assert time.process_time() - began < 8


def test_unreadable_defaults_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe is not waited for, deep nesting raises nothing, and help shows no control characters."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "promptpo.toml"
    path.write_text("[optimize]\nx = " + "[" * 10_000)
    assert run(["show", "run"]) == 2
    path.write_text('[optimize]\nhint = "\\u001b[2J\\u202e"\n')
    assert run(["optimize", "--help"]) == 0
    captured = capsys.readouterr()
    assert not {"\x1b", "\u202e"} & set(captured.out + captured.err)
    assert captured.err.count("\n") == 1
    path.unlink()
    os.mkfifo(path)
    assert run(["show", "run"]) == 2
