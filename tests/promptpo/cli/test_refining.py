"""`optimize --refine`: a network from the run's best program, told of in the same result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptpo.cli import refining
from promptpo.cli.app import run
from promptpo.output.sentences import sentence

SMALL = ["--model", "search", "--rounds", "1", "--max-steps", "3000", "--test-episodes", "2", "--no-film"]


def test_what_is_missing_is_said_before_anything_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A package, or that one run is meant; neither leaves a run."""
    monkeypatch.chdir(tmp_path)
    assert run(["optimize", "CartPole-v1", *SMALL, "--refine", "10", "--seeds", "2"]) == 2
    assert "promptpo refine RUN" in capsys.readouterr().err
    monkeypatch.setattr(refining, "REQUIRED_MODULES", ("no_such_module",))
    assert run(["optimize", "CartPole-v1", *SMALL, "--refine", "10"]) == 1
    assert 'pip install "promptpo[baselines]"' in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_run_that_goes_on_to_a_network_tells_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its result and its report, steps counted together; resuming trains nothing twice."""
    monkeypatch.chdir(tmp_path)
    assert run(["optimize", "Pendulum-v1", *SMALL, "--refine", "400", "--out", "a"]) == 0
    result = json.loads(Path("a/result.json").read_text())
    found, steps = result["refined"], result["refined"]["steps"]
    assert steps["total"] == steps["program"] + steps["train"] + steps["validation"]
    assert found["candidate"] == result["best"]["candidate"]
    assert found["test"]["episodes"] == 2
    assert Path("a", found["policy"]).exists()
    assert sentence("refined", found).split(".")[0] in capsys.readouterr().out.replace("\n", " ")
    assert f"for {steps['train']:,} steps" in Path("a/report.html").read_text()
    file = Path("a", found["policy"]).stat().st_mtime_ns
    assert run(["resume", "a", "--refine", "400", "--no-film"]) == 0
    assert json.loads(Path("a/result.json").read_text())["refined"]["test"] == found["test"]
    assert Path("a", found["policy"]).stat().st_mtime_ns == file
    assert run(["resume", "a", "--no-film"]) == 0
    assert "refined" in json.loads(Path("a/result.json").read_text())
