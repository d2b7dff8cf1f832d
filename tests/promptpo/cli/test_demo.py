"""The recorded run of `promptpo demo`."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from gymnasium.utils.env_checker import check_env

from promptpo.cli.app import run
from promptpo.cli.demo_command import SETTINGS
from promptpo.demo.crane import EPISODE_STEPS, OverheadCrane


def test_the_recording_has_an_answer_for_every_request() -> None:
    """Each candidate of each round has one, under the key of its call."""
    lines = (files("promptpo.demo") / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    keys = {json.loads(line)["key"] for line in lines}
    rounds, candidates = range(1, SETTINGS["rounds"] + 1), range(1, SETTINGS["candidates"] + 1)
    assert keys == {f"r{number}.c{candidate}" for number in rounds for candidate in candidates}


def test_crane_passes_gymnasiums_checks() -> None:
    """An episode lasts as many steps as documented."""
    check_env(OverheadCrane(), skip_render_check=True)
    env, steps, over = OverheadCrane(), 0, False
    env.reset(seed=3)
    while not over:
        _, _, terminated, truncated, _ = env.step(env.action_space.low * 0)
        over, steps = terminated or truncated, steps + 1
    assert steps == EPISODE_STEPS


@pytest.mark.slow
def test_demo_with_json_prints_only_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One round is enough to show it."""
    monkeypatch.setitem(SETTINGS, "rounds", 1)
    monkeypatch.setitem(SETTINGS, "max_steps", 3_000)
    monkeypatch.setitem(SETTINGS, "test_episodes", 4)
    assert run(["demo", "--out", str(tmp_path / "run"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert printed["run"] == str(tmp_path / "run")
    assert printed["test"] == result["test"]


@pytest.mark.slow
def test_the_demo_replays_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It announces recorded answers, plays both rounds and ends with the next command to type; a fifth of its steps is enough for its return."""
    monkeypatch.setitem(SETTINGS, "max_steps", 12_000)
    assert run(["demo", "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "recorded" in out.splitlines()[0]
    assert "promptpo optimize ./my_env.py:MyEnv" in out.splitlines()[-1]
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["rounds"] == SETTINGS["rounds"]
    assert result["test"]["episodes"] == SETTINGS["test_episodes"]
    assert result["test"]["mean_return"] > 60  # the same return as with the full budget
    assert (tmp_path / "run" / "best.py").exists()
