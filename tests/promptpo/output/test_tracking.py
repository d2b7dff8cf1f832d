"""Trackers, tested with their real clients if installed; the monitor file always."""

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.app import run as command
from promptpo.errors import MissingExtraError, RunError, UsageError
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.observer import Observer
from promptpo.output.tracking import Several, Tracker, send, tracker
from tests.promptpo.policies import GOOD, TUNABLE, WEAK

SETTINGS = {"rounds": 2, "candidates": 1, "episodes": 3, "validation_episodes": 4, "test_episodes": 5}


def needs(module: Any) -> Any:
    """Skip where a client is not installed."""
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"needs {module}")


class MemoryTracker(Tracker):
    """Keeps everything that it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.logged, self.parameters, self.policy = [], None, None

    def open(self, directory: Any, parameters: Any) -> None:
        """Keep the parameters."""
        self.parameters = parameters

    def log(self, metrics: Any, step: Any, at: Any) -> None:
        """Keep the metrics."""
        self.logged.append((dict(metrics), step, round(at, 3)))

    def close(self, policy: Any) -> None:
        """Keep the policy."""
        self.policy = policy


@pytest.fixture(scope="module")
def tracked_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run followed by a tracker in memory."""
    memory = MemoryTracker()
    answers = {"r1.c1": WEAK, "r2.c1": TUNABLE}
    run = promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(lambda request: answers.get(request.key, GOOD)),
        out=tmp_path_factory.mktemp("tracking") / "run",
        max_steps=15_000,
        stop_at=499.0,
        observer=Several(Observer(), [memory]),
        **SETTINGS,
    )
    return run, memory


def metric_values(memory: Any, name: Any) -> Any:
    """Return the (step, value) pairs of a metric."""
    return [(step, metrics[name]) for metrics, step, _ in memory.logged if name in metrics]


def test_run_is_tracked(tracked_run: Any) -> None:
    """Environment steps never decrease."""
    run, memory = tracked_run
    steps = [step for _, step, _ in memory.logged]
    assert steps == sorted(steps)
    assert metric_values(memory, "test/mean_reward")[-1][1] == run.mean_return
    best = [value for _, value in metric_values(memory, "eval/best_mean_reward")]
    assert best[-1] > best[0], "estimates of the best may fall with further episodes, but rise overall"
    assert metric_values(memory, "llm/calls")[-1][1] == run.data["llm"]["calls"]
    assert metric_values(memory, "tune/best_return")
    assert memory.parameters["env_id"] == "CartPole-v1"
    assert memory.policy == run.policy_path


def test_sending_a_finished_run_gives_the_same_metrics(tracked_run: Any) -> None:
    run, live = tracked_run
    later = MemoryTracker()
    send(run.directory, [later])
    assert [m for m, *_ in later.logged] == [m for m, *_ in live.logged]
    assert later.logged[:-1] == live.logged[:-1]  # the last has the time of sending


@pytest.mark.slow
def test_failing_tracker_does_not_end_the_run(tmp_path: Path) -> None:
    """It is warned about once and then skipped."""

    class Broken(MemoryTracker):
        def log(self, metrics: Any, step: Any, at: Any) -> None:
            raise ConnectionError("no route")

    class Listening(Observer):
        def warn(self, message: Any) -> None:
            warnings.append(message)

    warnings = []
    run = promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(lambda _: GOOD),
        out=tmp_path / "run",
        observer=Several(Listening(), [Broken()]),
        **SETTINGS,
    )
    assert run.mean_return > 300
    assert [w for w in warnings if "Broken stopped tracking" in w and "no route" in w] == warnings


def test_monitor_file_has_every_episode(tracked_run: Any, tmp_path: Path) -> None:
    """stable-baselines3 can read it."""
    run, _ = tracked_run
    path = tmp_path / "logs" / "monitor.csv"
    send(run.directory, [tracker(f"monitor:{path}")])
    header, *lines = path.read_text().splitlines()
    assert json.loads(header[1:])["env_id"] == "CartPole-v1"
    rows = list(csv.DictReader(lines))
    tests = [float(row["r"]) for row in rows if row["purpose"] == "test"]
    assert tests == run.data["test"]["returns"]
    assert {row["purpose"] for row in rows} == {"train", "validation", "test", "tune", "reference"}
    results = pytest.importorskip("stable_baselines3.common.results_plotter")
    from stable_baselines3.common.monitor import load_results

    table = load_results(str(path.parent))
    assert len(table) == len(rows)
    assert results.ts2xy(table, "episodes")[1].tolist() == [float(row["r"]) for row in rows]


@needs("tensorboard")
def test_tensorboard_reads_the_scalars(tracked_run: Any, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run, memory = tracked_run
    send(run.directory, [tracker(f"tensorboard:{tmp_path}")])
    found = EventAccumulator(str(tmp_path / run.directory.name), size_guidance={"scalars": 0, "tensors": 0})
    found.Reload()
    tags = set(found.Tags()["scalars"]) | set(found.Tags()["tensors"])
    assert {"rollout/ep_rew_mean", "eval/mean_reward", "test/mean_reward"} <= tags
    series = found.Tensors("eval/mean_reward")
    assert [(e.step, pytest.approx(float(e.tensor_proto.float_val[0]))) for e in series] == metric_values(
        memory, "eval/mean_reward"
    )


@pytest.mark.slow
@needs("mlflow")
def test_mlflow_reads_metrics_parameters_and_policy(tracked_run: Any, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    run, memory = tracked_run
    uri = f"file:{tmp_path / 'mlruns'}"
    send(run.directory, [tracker(f"mlflow:{uri}")])
    client = MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("promptpo")
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.data.metrics["test/mean_reward"] == run.mean_return
    assert found.data.params["env_id"] == "CartPole-v1"
    assert found.info.status == "FINISHED"
    history = client.get_metric_history(found.info.run_id, "eval/mean_reward")
    assert sorted((m.step, m.value) for m in history) == sorted(metric_values(memory, "eval/mean_reward"))
    assert [artifact.path for artifact in client.list_artifacts(found.info.run_id)] == ["best.py"]


@pytest.mark.slow
@needs("wandb")
def test_wandb_writes_an_offline_run(tracked_run: Any, tmp_path: Path) -> None:
    run, _ = tracked_run
    code = "import sys; from promptpo.cli.app import run; sys.exit(run(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "track", str(run.directory), "--to", "wandb:demo"],
        env={
            **os.environ,
            "WANDB_MODE": "offline",
            "WANDB_DIR": str(tmp_path),
            "PYTHONPATH": str(Path.cwd()),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list((run.directory / "wandb").glob("offline-run-*/*.wandb"))


@pytest.mark.parametrize("name", ["monitor", "tensorboard", "monitor:../out.csv"])
def test_nothing_is_written_inside_a_foreign_run(
    name: str,
    tracked_run: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its author may have placed links where trackers write."""
    run, _ = tracked_run
    precious, theirs = tmp_path / "precious", tmp_path / "theirs"
    precious.write_text("mine")
    shutil.copytree(run.directory, theirs)
    (theirs / "origin").unlink()
    (theirs / "monitor.csv").symlink_to(precious)
    (theirs / "tensorboard").symlink_to(tmp_path)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    monkeypatch.chdir(theirs)
    assert command(["track", ".", "--to", name]) == 2
    assert "not made here" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    (tmp_path / "monitor.csv").symlink_to(precious)
    assert command(["track", "theirs", "--to", "monitor"]) == 2
    assert "is a link" in capsys.readouterr().err
    (tmp_path / "monitor.csv").unlink()
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    assert precious.read_text() == "mine"


def test_failing_client_is_a_usage_error(tracked_run: Any) -> None:
    """Nothing has been sent by then."""

    class Closed(MemoryTracker):
        def open(self, directory: Any, parameters: Any) -> None:
            raise ConnectionError("no route")

    with pytest.raises(UsageError, match="Closed cannot be used: no route"):
        send(tracked_run[0].directory, [Closed()])


def test_unknown_trackers_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing client comes with its pip command."""
    with pytest.raises(UsageError, match="tensorboard"):
        tracker("tensorbord:x")
    assert command(["optimize", "CartPole-v1", "--track", "nothing", "--out", str(tmp_path / "x")]) == 2
    assert "monitor" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    with pytest.raises(RunError, match="not a run"):
        send(tmp_path, [MemoryTracker()])
    if importlib.util.find_spec("wandb") is None:
        with pytest.raises(MissingExtraError, match="pip install"):
            tracker("wandb")
