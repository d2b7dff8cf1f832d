"""How long the spec of a run may become."""

from pathlib import Path
from typing import Any

import pytest

from promptpo import optimize
from promptpo.cli.app import run
from promptpo.envs.task import Task
from promptpo.run.config import load_config
from promptpo.run.journal import Journal
from promptpo.spec import describe

QUICK = {"rounds": 1, "candidates": 1, "episodes": 1, "validation_episodes": 1, "test_episodes": 1}


def spec_of(directory: Any) -> Any:
    """The spec that a run's prompts contained."""
    with Journal(directory) as journal:
        return journal.find("spec", "spec")["text"]


def test_a_run_shows_the_spec_in_the_detail_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flag of ``optimize`` gives what ``promptpo spec`` prints, and is written to the configuration."""
    monkeypatch.chdir(tmp_path)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    arguments = ["optimize", "CliffWalking-v1", "--model=search", "--max-episode-steps=20", "--no-film"]
    code = run([*arguments, *flags, "--tune=none", "--jobs=1", "--out=run", "--spec-detail=short"])
    assert code == 0
    assert spec_of(tmp_path / "run") == describe(Task("CliffWalking-v1", {}, 20), detail="short").text
    assert load_config(tmp_path / "run" / "config.toml").spec_detail == "short"


def test_python_takes_the_detail_too(tmp_path: Path) -> None:
    """``spec_detail`` is a setting of ``optimize``; a longer one says more."""
    settings = {"model": "search", "tune": "none", "jobs": 1, "max_episode_steps": 5}
    optimize("CliffWalking-v1", out=tmp_path / "run", spec_detail="full", **QUICK, **settings)
    normal = describe(Task("CliffWalking-v1", {}, 5)).text
    assert len(spec_of(tmp_path / "run")) > len(normal)


def test_an_unknown_detail_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt value is answered with those that there are."""
    assert run(["optimize", "CliffWalking-v1", "--spec-detail=ful"]) == 2
    assert "'ful' is not one of 'short', 'normal', 'full'. Did you mean full?" in capsys.readouterr().err
