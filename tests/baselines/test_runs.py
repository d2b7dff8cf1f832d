"""`show`, `report`, `list`, `compare` and `track` accept runs of baselines."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run as command_line
from promptpo.output.baseline_run import is_baseline, read_baseline
from promptpo.output.runs import find_runs, read_line
from promptpo.prompts.feedback import number
from tests.promptpo.output.report.test_page import parse_page


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained agent, a copy without its result, random actions, and tabular Q-learning."""
    folder = tmp_path_factory.mktemp("baselines")
    few = ["--test-episodes", "4", "--quiet"]
    trained = [
        "ppo",
        "CartPole-v1",
        "--max-steps",
        "320",
        "--eval-every",
        "128",
        "--validation-episodes",
        "3",
    ]
    assert (
        command_line(["baseline", *trained, *few, "--hyperparams", "default", "--out", str(folder / "ppo")])
        == 0
    )
    assert command_line(["baseline", "random", "CartPole-v1", *few, "--out", str(folder / "random")]) == 0
    q = ["icpi", "promptpo/Chain-v0", "--method", "tabular-q", "--steps", "200"]
    assert command_line(["baseline", *q, "--out", str(folder / "icpi"), *few]) == 0
    shutil.copytree(folder / "ppo", folder / "going")
    (folder / "going" / "result.json").unlink()
    return folder


def test_runs_are_found_and_listed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps, seconds and test return; an unfinished run has the values of its checkpoint."""
    assert [path.name for path in find_runs(runs)] == ["going", "icpi", "ppo", "random"]
    lines = {path.name: read_line(path) for path in find_runs(runs)}
    assert not lines["going"].facts["finished"]
    assert lines["going"].facts["method"] == "ppo"
    assert lines["going"].facts["steps"] == 256 + read_baseline(runs / "ppo").content["steps"]["validation"]
    assert lines["going"].curve == lines["ppo"].curve
    steps = read_baseline(runs / "ppo").content["steps"]
    assert (
        lines["ppo"].curve[-1][0] == steps["train"] + steps["validation"]
    )  # as the curve of a search counts them
    for name in ("icpi", "ppo", "random"):
        assert lines[name].facts["mean_return"] is not None
        assert lines[name].facts["steps"]
        assert lines[name].facts["wall_seconds"]
        assert lines[name].curve
    assert command_line(["list", str(runs)]) == 0
    assert capsys.readouterr().out.count("CartPole-v1") == 3


@pytest.mark.parametrize("name", ["icpi", "ppo", "random"])
def test_show_and_report(runs: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Curve, steps, seconds and test return, as text, JSON and a page without network access."""
    result = json.loads((runs / name / "result.json").read_text())
    assert command_line(["show", str(runs / name)]) == 0
    out = capsys.readouterr().out
    assert f"Held-out return {number(result['test']['mean_return'])} (" in out
    assert "Training steps" in out
    assert "Seconds:" in out
    assert command_line(["show", str(runs / name), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["result"] == result
    assert len(report["curve"]) == len(result["curve"]) > 0
    assert command_line(["report", str(runs / name)]) == 0
    page = parse_page(runs / name / "report.html")
    assert not page.sources
    assert page.scripts == ["code"]
    assert "<svg" in (runs / name / "report.html").read_text()


def test_unfinished_run_is_shown_but_not_tracked(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["show", str(runs / "going")]) == 0
    assert "Not finished" in capsys.readouterr().out
    assert command_line(["report", str(runs / "going")]) == 0
    assert "Not finished." in (runs / "going" / "report.html").read_text()
    capsys.readouterr()
    assert command_line(["track", str(runs / "going"), "--to", "monitor"]) == 2
    assert "has no result yet" in capsys.readouterr().err


def test_live_report_is_refreshed_until_the_run_ends(runs: Path) -> None:
    from promptpo.output.live import draw_page

    page, is_running = draw_page(runs / "going")
    assert is_running
    assert "Against training steps" in page
    page, is_running = draw_page(runs / "ppo")
    assert not is_running
    assert "held-out mean return" in page


def test_monitor_file_has_training_and_test_episodes(runs: Path, tmp_path: Path) -> None:
    """stable-baselines3 can read it."""
    assert command_line(["track", str(runs / "ppo"), "--to", f"monitor:{tmp_path / 'monitor.csv'}"]) == 0
    _, *lines = (tmp_path / "monitor.csv").read_text().splitlines()
    rows = list(csv.DictReader(lines))
    trained = [row for row in rows if row["purpose"] == "train"]
    assert len(trained) == json.loads((runs / "ppo" / "result.json").read_text())["train_episodes"]
    assert all(float(row["r"]) == float(row["l"]) for row in trained)
    assert [row["seed"] for row in rows if row["purpose"] == "test"] == [
        str(20_000_000 + n) for n in range(4)
    ]
    from stable_baselines3.common.monitor import load_results

    assert len(load_results(str(tmp_path))) == len(rows)


def test_dashboard_gets_the_curve(runs: Path) -> None:
    """Every point at its step, and the test at the end."""
    from promptpo.output.tracking import send
    from tests.promptpo.output.test_tracking import MemoryTracker

    memory: Any = MemoryTracker()
    send(runs / "ppo", [memory])
    result = json.loads((runs / "ppo" / "result.json").read_text())
    assert [step for _, step, _ in memory.logged[:-1]] == [point["steps"] for point in result["curve"]]
    assert memory.logged[-1][0]["test/mean_reward"] == result["test"]["mean_return"]
    assert memory.parameters["model"] == "ppo"


def test_other_folders_are_no_baseline_runs(runs: Path, tmp_path: Path, capsys: Any) -> None:
    """A baseline has no candidates either."""
    (tmp_path / "config.json").write_text("{}")
    assert not is_baseline(tmp_path)
    assert command_line(["show", str(tmp_path)]) == 2
    assert "is not a run directory" in capsys.readouterr().err
    assert command_line(["show", str(runs / "ppo"), "r1c1"]) == 2
    assert "no candidates" in capsys.readouterr().err
    (runs / "bad").mkdir()
    (runs / "bad" / "result.json").write_text('{"env_id": 3}')
    assert command_line(["show", str(runs / "bad")]) == 2
    assert "no readable result.json" in capsys.readouterr().err
    shutil.rmtree(runs / "bad")
