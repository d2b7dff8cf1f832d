"""`optimize --refine`: a network trained from the run's best program, in the same result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptpo.cli import refining
from promptpo.cli.app import run
from promptpo.output.sentences import sentence

SMALL = ["--model", "search", "--rounds", "1", "--max-steps", "3000", "--test-episodes", "2", "--no-film"]


def test_refine_checks_its_requirements_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a missing package nor several seeds leave a run folder."""
    monkeypatch.chdir(tmp_path)
    assert run(["optimize", "CartPole-v1", *SMALL, "--refine", "10", "--seeds", "2"]) == 2
    assert "promptpo refine RUN" in capsys.readouterr().err
    monkeypatch.setattr(refining, "REQUIRED_MODULES", ("no_such_module",))
    assert run(["optimize", "CartPole-v1", *SMALL, "--refine", "10"]) == 1
    assert 'pip install "promptpo[baselines]"' in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_refined_run_reports_program_and_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps are counted together, and resuming does not train again."""
    monkeypatch.chdir(tmp_path)
    assert run(["optimize", "Pendulum-v1", *SMALL, "--refine", "400", "--out", "a"]) == 0
    result = json.loads(Path("a/result.json").read_text())
    refined, steps = result["refined"], result["refined"]["steps"]
    assert steps["total"] == steps["program"] + steps["train"] + steps["validation"]
    assert refined["candidate"] == result["best"]["candidate"]
    assert refined["test"]["episodes"] == 2
    assert Path("a", refined["policy"]).exists()
    assert sentence("refined", refined).split(".")[0] in capsys.readouterr().out.replace("\n", " ")
    assert f"for {steps['train']:,} steps" in Path("a/report.html").read_text()
    modified = Path("a", refined["policy"]).stat().st_mtime_ns
    assert run(["resume", "a", "--refine", "400", "--no-film"]) == 0
    assert json.loads(Path("a/result.json").read_text())["refined"]["test"] == refined["test"]
    assert Path("a", refined["policy"]).stat().st_mtime_ns == modified
    assert run(["resume", "a", "--no-film"]) == 0
    assert "refined" in json.loads(Path("a/result.json").read_text())
