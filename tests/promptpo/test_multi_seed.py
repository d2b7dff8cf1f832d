"""Several seeds in one folder: one run each, a summary, and resuming after any end."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.app import run as command_line
from promptpo.cli.multi_seed_output import tracker_for_seed
from promptpo.errors import UsageError
from promptpo.llm.scripted import ScriptedLLM
from promptpo.multi_seed import SeedsResult, _interval_over_runs
from promptpo.output.observer import Observer
from promptpo.output.run_result import RunResult
from promptpo.run.config_file import CONFIG, load_config
from tests.promptpo.optimizing import Model, read_run
from tests.promptpo.policies import GOOD, WEAK
from tests.waiting import wait_until

FEW: dict[str, Any] = {
    "rounds": 1, "candidates": 1, "episodes": 3, "validation_episodes": 4, "test_episodes": 5, "max_steps": 4000,
    "jobs": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def models() -> dict[int, Model]:
    """A model for each seed; the last one's policies are the best."""
    return {seed: Model(default=GOOD if seed == 4 else WEAK) for seed in (3, 4)}


@pytest.fixture(scope="module")
def two_seeds(models: dict[int, Model], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs with seeds 3 and 4."""
    return promptpo.optimize_seeds(
        "CartPole-v1", seeds=2, seed=3, out=tmp_path_factory.mktemp("several") / "runs",
        llm=lambda seed: ScriptedLLM(models[seed]), **FEW,
    )  # fmt: skip


def test_every_seed_has_a_run_in_the_summary(two_seeds: Any) -> None:
    """Mean and interval are over the runs' test means."""
    assert sorted(two_seeds.runs) == [3, 4]
    for seed, run in two_seeds.runs.items():
        assert run.directory == two_seeds.directory / f"seed-{seed}"
        assert load_config(run.directory / CONFIG).seed == seed
    means = [two_seeds.runs[seed].mean_return for seed in (3, 4)]
    assert means[0] < means[1]
    assert two_seeds.mean_return == pytest.approx(sum(means) / 2)
    assert two_seeds.data["ci95"] == [None, None]  # no interval over two runs
    assert two_seeds.best.directory.name == "seed-4"
    assert two_seeds.complete
    assert json.loads((two_seeds.directory / "summary.json").read_text()) == two_seeds.data
    assert [row["finished"] for row in two_seeds.data["runs"]] == [True, True]


def test_interval_over_few_runs_includes_their_own_errors() -> None:
    """Two runs have no interval; from three on it is Student's t."""
    rows: list[Any] = [{"mean_return": 10.0 + n, "ci95": [8.0 + n, 12.0 + n]} for n in range(6)]
    assert _interval_over_runs(rows[:2]) == [None, None]
    low, high = _interval_over_runs(rows[:3])
    assert (low, high) == pytest.approx((11 - 2.484, 11 + 2.484), abs=0.05)
    wide = [{**row, "ci95": [row["mean_return"] - 40, row["mean_return"] + 40]} for row in rows[:3]]
    assert _interval_over_runs(wide)[1] > high + 20
    assert _interval_over_runs(rows) == pytest.approx([12.5 - 1.963, 12.5 + 1.963], abs=0.05)


def test_same_call_continues_with_missing_seeds(two_seeds: Any, models: dict[int, Model]) -> None:
    requests = {seed: len(model.requests) for seed, model in models.items()}
    models[5] = Model(default=WEAK)
    more = promptpo.optimize_seeds(
        "CartPole-v1",
        seeds=3,
        seed=3,
        out=two_seeds.directory,
        llm=lambda seed: ScriptedLLM(models[seed]),
        **FEW,
    )
    assert sorted(more.runs) == [3, 4, 5]
    assert {seed: len(models[seed].requests) for seed in (3, 4)} == requests
    with pytest.raises(UsageError, match="other settings"):
        promptpo.optimize_seeds(
            "CartPole-v1", seeds=3, seed=3, out=two_seeds.directory, llm=lambda seed: ScriptedLLM(models[seed]),
            **{**FEW, "test_episodes": 6},
        )  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_closes_the_run_and_skips_the_others(tmp_path: Path) -> None:
    """The next call finishes all of them."""

    class Interrupts(Observer):
        def on_event(self, event: Any) -> None:
            if event.kind == "attempt":
                os.kill(os.getpid(), signal.SIGINT)

    options: dict[str, Any] = {
        **FEW,
        "seeds": 2,
        "out": tmp_path / "runs",
        "llm": lambda _: ScriptedLLM(Model()),
    }
    with pytest.raises(KeyboardInterrupt, match="all runs are kept"):
        promptpo.optimize_seeds("CartPole-v1", observer=Interrupts(), **options)
    kept = json.loads((tmp_path / "runs" / "summary.json").read_text())
    assert [row["finished"] for row in kept["runs"]] == [False, False]
    assert kept["runs"][0]["mean_return"] is not None
    assert not (tmp_path / "runs" / "seed-1").exists()
    result = promptpo.optimize_seeds("CartPole-v1", **options)
    assert result.complete


def command(out: Path) -> list[str]:
    """Return a search with three seeds."""
    flags = "--rounds 1 -n 1 --episodes 3 --validation-episodes 3 --test-episodes 4 --max-steps 4000 --jobs 1 --no-film"
    return ["optimize", "CartPole-v1", "--model", "search", "--seeds", "3", *flags.split(), "--out", str(out)]


@pytest.mark.slow
def test_killed_search_resumes_by_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Finished runs are not rolled out again."""
    out = tmp_path / "runs"
    words = [sys.executable, "-m", "promptpo", *command(out), "--quiet"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until((out / "seed-1" / "journal.jsonl").exists, process)
    process.kill()
    process.wait()
    before = (out / "seed-0" / "journal.jsonl").read_bytes()
    assert not (out / "seed-2").exists()
    assert command_line(["resume", str(out), "--quiet", "--no-film"]) == 0
    out_text = capsys.readouterr().out
    assert "Mean over 3 runs" in out_text
    assert len(re.findall(r"seed-\d\s+\d", out_text)) == 3
    assert (out / "seed-0" / "journal.jsonl").read_bytes() == before
    seeds = [load_config(out / f"seed-{seed}" / CONFIG).seed for seed in range(3)]
    assert seeds == [0, 1, 2]
    assert command_line([*command(out), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["finished"] == 3
    assert len(read_run(out / "seed-0")["session"]) == 1


def test_mistakes_are_one_sentence(
    two_seeds: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that contains a single run, and a damaged seeds.json."""
    assert command_line(command(two_seeds.directory / "seed-3")) == 2
    assert "holds a single run" in capsys.readouterr().err
    (tmp_path / "seeds.json").write_text("[]")
    assert command_line(["resume", str(tmp_path)]) == 1
    assert "seeds.json" in capsys.readouterr().err
    (tmp_path / "seeds.json").write_text('{"seeds": [0]}')
    assert command_line(["resume", str(tmp_path)]) == 2
    assert "no run was started" in capsys.readouterr().err


def test_each_seed_has_a_monitor_file_of_its_own() -> None:
    """Dashboards separate runs themselves."""
    assert tracker_for_seed("monitor:logs/monitor.csv", 2) == "monitor:logs/monitor-seed-2.csv"
    assert tracker_for_seed("monitor", 0) == "monitor:monitor-seed-0.csv"
    assert tracker_for_seed("tensorboard:logs", 1) == "tensorboard:logs"


def test_folder_of_seeds_is_shown_reported_and_exported(
    two_seeds: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`export` chooses by training and validation, and says so."""
    folder = str(two_seeds.directory)
    assert command_line(["show", folder]) == 0
    out = capsys.readouterr().out
    assert out.startswith("run ")
    assert "seed-3" in out
    assert f"promptpo show {two_seeds.directory}/seed-" in out
    assert command_line(["show", folder, "--json"]) == 0
    summary = json.loads((two_seeds.directory / "summary.json").read_text())
    assert json.loads(capsys.readouterr().out)["runs"] == summary["runs"]
    assert command_line(["report", folder]) == 0
    assert "compare.html" in capsys.readouterr().out
    assert "<table" in (two_seeds.directory / "compare.html").read_text()
    assert command_line(["export", folder, "-o", str(tmp_path / "policy.py")]) == 0
    assert "by the return of its training and validation episodes" in capsys.readouterr().err
    assert "class Policy" in (tmp_path / "policy.py").read_text()
    for words in (["show", folder, "r1c1"], ["export", folder, "r1c1"], ["report", folder, "--live"]):
        assert command_line(words) == 2
        assert "/seed-" in capsys.readouterr().err


def test_best_seed_is_chosen_by_validation_not_test(tmp_path: Path) -> None:
    runs = {
        seed: RunResult(tmp_path / str(seed), {"best": {"candidate": "r1c1"}, "evidence": {"mean_return": by, "success_rate": None}, "test": {"mean_return": test}}, "")
        for seed, by, test in ((0, 5.0, 1.0), (1, 4.0, 9.0))
    }  # fmt: skip
    assert SeedsResult(tmp_path, {}, runs).best is runs[0]
