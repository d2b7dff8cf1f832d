"""Counts, keyword arguments and flags are accepted in the spellings that people type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from promptpo.api import default_directory
from promptpo.cli.amounts import COUNTS, MAX_STEPS_FLAG, SYNONYMS, as_integer, normalize
from promptpo.cli.app import app, run
from promptpo.cli.arguments import json_object
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.files import release_empty
from tests.promptpo.commands import Command


@given(st.integers(1, 10**9), st.sampled_from(["{}", "{:_}", "{}e0"]))
def test_count_is_read_in_each_spelling(count: int, form: str) -> None:
    assert as_integer(form.format(count)) == str(count)


@given(
    st.integers(1, 999),
    st.sampled_from([("k", 3), ("K", 3), ("M", 6), ("m", 6), ("e3", 3), ("E+5", 5), (".5k", 3)]),
)
def test_count_with_suffix_or_exponent(count: int, factor: tuple[str, int]) -> None:
    """Such as 1e5, 50k, 2M and 1.5k."""
    half = 500 if factor[0].startswith(".") else 0
    assert as_integer(f"{count}{factor[0]}") == str(count * 10 ** factor[1] + half)


@pytest.mark.parametrize("text", ["many", "-5", "1.5", "k", "1kk", "", "0x10", "1e-3"])
def test_other_text_is_passed_on_unchanged(text: str) -> None:
    """The command reports what is wrong with it."""
    assert as_integer(text) == text


@pytest.mark.parametrize("command", ["optimize", "resume", "baseline", "refine", "benchmark"])
@pytest.mark.parametrize("flag", sorted({MAX_STEPS_FLAG, *SYNONYMS}))
@pytest.mark.parametrize("apart", [True, False])
def test_every_spelling_of_the_step_limit_is_normalised(command: str, flag: str, *, apart: bool) -> None:
    """Other flags of the same line keep their values."""
    given = [flag, "50k"] if apart else [f"{flag}=50k"]
    expected = [MAX_STEPS_FLAG, "50000"] if apart else [f"{MAX_STEPS_FLAG}=50000"]
    line = [command, "x", *given, "--out", "50k", "--seed=2"]
    assert normalize(line) == [command, "x", *expected, "--out", "50k", "--seed=2"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=4", {"n": 4}),
        ("n=4, name=8x8", {"n": 4, "name": "8x8"}),
        ("slippery=False,limit=None,x=1.5", {"slippery": False, "limit": None, "x": 1.5}),
        ('{"n": [1, 2]}', {"n": [1, 2]}),
    ],
)
def test_keyword_arguments_as_pairs_or_json(text: str, value: Any) -> None:
    assert json_object(text, "--env-kwargs") == value


@pytest.mark.parametrize("text", ["{'n': 4}", "n", "4", "[1", "n:4", "=4"])
def test_malformed_keyword_arguments_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="such as"):
        json_object(text, "--env-kwargs")


def _options(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the options of a command and its subcommands, each with the words that lead to it."""
    if hasattr(command, "list_commands"):
        context = command.make_context("promptpo", [], resilient_parsing=True)
        for name in command.list_commands(context):
            yield from _options(command.get_command(context, name), (*path, name))
    else:
        yield from ((path, param) for param in command.params if param.param_type_name == "option")


@pytest.mark.slow
def test_numeric_options_name_the_expected_kind_of_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Only counts of steps mention their other spellings, such as 50k."""
    tried = set()
    for path, option in _options(typer.main.get_command(app)):
        kind = option.type_descriptor.annotation
        flag = max(option.opts, key=len)
        if kind not in {int, float} or flag in tried:
            continue
        positional = ["CartPole-v1"] * (path[0] not in {"doctor", "demo"})
        assert run([*path, *positional, flag, "two"]) == 2
        err = capsys.readouterr().err
        number = "whole number" if kind is int else "number"
        assert f"must be a {number}" in err, (path, flag)
        assert ("50k" in err) == (COUNTS.fullmatch(flag) is not None), (path, flag)
        tried.add(flag)
    assert {"--rounds", "--max-steps", "--max-usd", "--episodes"} <= tried


def test_unknown_algorithm_lists_the_available_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Including algorithms of stable-baselines3 that promptpo does not offer."""
    for name in ("td3", "a2c", "ddpg"):
        assert run(["baseline", name, "Pendulum-v1"]) == 2
        assert "Available: ppo, trpo, sac" in capsys.readouterr().err


def test_concurrent_runs_get_separate_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Holds for threads and for processes; folders that stay empty are removed."""
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(default_directory, [Task("CartPole-v1")] * 24))
    assert len(set(folders)) == 24
    code = "from promptpo.api import *; from promptpo.envs.task import Task; d = default_directory(Task('CartPole-v1')); (d / 'x').touch(); print(d)"
    processes = [Command([], cwd=tmp_path, environment=os.environ, code=code) for _ in range(2)]
    assert len({process.communicate(60)[1] for process in processes}) == 2
    release_empty()
    assert len(list(Path("runs").iterdir())) == 2
