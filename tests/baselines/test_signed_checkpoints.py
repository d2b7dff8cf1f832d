"""Files of a run are unpickled only as written on this machine, whichever of them was changed."""

import os
import pickle
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from tests.baselines.budgets import total
from tests.baselines.late import Late, train

checkpoints, training = Late("promptpo_baselines.checkpoints"), Late("promptpo_baselines.training")

ROWS = "default: {n_steps: 48, batch_size: 32, n_envs: 1, n_epochs: 2, normalize: true}"
OFF_POLICY = "default: {train_freq: 48, gradient_steps: 1, learning_starts: 20, normalize: true}"


class Evil:
    """Creates a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> Any:
        return Path.touch, (self._trace,)


def settings(folder: Path, algorithm: Any, rows: str) -> TrainingSettings:
    """Return settings of a short run with observation statistics."""
    file = folder / "rows.yml"
    file.write_text(rows)
    return TrainingSettings(
        algorithm, Task("Pendulum-v1", {}, 40), steps=total(96), hyperparameters=str(file), eval_every=48,
        validation_episodes=1, test_episodes=1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[TrainingSettings, Path]]:
    """Settings and folders of complete runs of an on-policy and an off-policy algorithm, whose best agent is the first."""
    runs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo_baselines.training_run.TrainingRun._better", lambda *_: False)
        for algorithm, rows in (("ppo", ROWS), ("sac", OFF_POLICY)):
            folder = tmp_path_factory.mktemp(algorithm)
            chosen = settings(folder, algorithm, rows)
            train(chosen, folder / "run", resume=False, display=Display())
            runs[algorithm] = chosen, folder / "run"
    return runs


def put_pickle(path: Path, trace: Path) -> None:
    """Write a pickle that creates `trace` into a file, in the format of that file."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("extra", pickle.dumps(Evil(trace)))
    else:
        path.write_bytes(pickle.dumps(Evil(trace)))


def add_file(path: Path, trace: Path) -> None:
    """Put another file beside it."""
    put_pickle(path.with_name("vec_normalize.pkl"), trace)


def add_later_checkpoint(path: Path, _: Path) -> None:
    """Add a checkpoint with more steps and one file less."""
    folder = next(parent for parent in path.parents if parent.name.startswith("steps-"))
    later = folder.with_name("steps-999999999999")
    shutil.copytree(folder, later)
    (later / path.relative_to(folder)).unlink()


CHANGES: list[Callable[[Path, Path], Any]] = [
    put_pickle,
    add_file,
    add_later_checkpoint,
    lambda path, _: path.unlink(),
]


def each_change() -> Iterator[Any]:
    """Yield every file of a checkpoint with every change."""
    both = [
        "model.zip",
        "vecnormalize.pkl",
        "best/model.zip",
        "best/vecnormalize.pkl",
        "record.json",
        "files.json",
    ]
    for algorithm, names in (("ppo", both), ("sac", [*both, "replay_buffer.pkl"])):
        for name in names:
            for number in range(len(CHANGES)):
                yield algorithm, name, number


@pytest.mark.parametrize(("algorithm", "name", "number"), each_change())
def test_changed_checkpoint_requires_trust(
    algorithm: str, name: str, number: int, finished_runs: Any, tmp_path: Path
) -> None:
    """Whichever file was changed, added or removed, nothing is loaded; with trust the run continues."""
    chosen, original = finished_runs[algorithm]
    run, trace = tmp_path / "run", tmp_path / "trace"
    shutil.copytree(original, run)
    checkpoint = checkpoints.Checkpoints(run).latest()
    assert sorted(map(str, each_file(checkpoint))) == sorted(
        {each for kind, each, _ in each_change() if kind == algorithm}
    )
    longer = replace(chosen, steps=total(144))
    training.prepare(longer, run, resume=True)  # unchanged, it needs no trust
    CHANGES[number](checkpoint / name, trace)
    with pytest.raises(UsageError, match=r"can run any code.*--trust"):
        train(longer, run, resume=True, display=Display())
    assert not trace.exists()
    training.prepare(longer, run, resume=True, trust=True)


def each_file(folder: Path) -> Iterator[Path]:
    """Yield the paths of all files below a folder, relative to it."""
    return (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("record.json")])
def test_pipes_and_links_in_a_checkpoint_require_trust(make: Any, finished_runs: Any, tmp_path: Path) -> None:
    """A pipe is not waited for, and a link is not followed."""
    chosen, original = finished_runs["ppo"]
    shutil.copytree(original, tmp_path / "run")
    make(checkpoints.Checkpoints(tmp_path / "run").latest() / "another.pkl")
    with pytest.raises(UsageError, match="--trust"):
        training.prepare(chosen, tmp_path / "run", resume=True)


OPENED: list[Path] = []
WATCHED: list[Path] = []
"""The run whose opened files are recorded; an audit hook cannot be removed."""


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if WATCHED and event == "open" and isinstance(arguments[0], str) and "r" in str(arguments[1]):
        OPENED.append(Path(arguments[0]))


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_resumed_run_loads_only_its_checkpoint(algorithm: str, finished_runs: Any, tmp_path: Path) -> None:
    """Agents and statistics elsewhere in its folder are for users and are not read."""
    chosen, original = finished_runs[algorithm]
    run, trace = tmp_path / "run", tmp_path / "trace"
    shutil.copytree(original, run)
    for name in ("best_model.zip", "vecnormalize.pkl", "vecnormalize_features.pkl", "replay_buffer.pkl"):
        (run / name).write_bytes(pickle.dumps(Evil(trace)))
    (run / "checkpoints" / "config.json").write_text('{"task": {"env_id": "nowhere:Env"}}')
    (run / "result.json").unlink()
    sys.addaudithook(_note_opened)
    OPENED.clear()
    WATCHED.append(run)
    try:
        train(chosen, run, resume=True, display=Display())  # only its test is left
    finally:
        WATCHED.clear()
    read = {path for path in OPENED if path.is_relative_to(run) and path.suffix in {".zip", ".pkl", ".pth"}}
    assert {path.parent.name for path in read} >= {"best"}
    assert {path.relative_to(run).parts[0] for path in read} == {"checkpoints"}
    assert not trace.exists()


@pytest.mark.parametrize("at", ["sign", "shutil.rmtree", "Path.rename"])
def test_a_kill_while_a_checkpoint_is_written_keeps_the_run(
    at: str, finished_runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is complete the previous one stays with its signature, and the run continues without trust."""
    chosen, original = finished_runs["ppo"]
    run, longer = tmp_path / "run", replace(chosen, steps=total(144))
    shutil.copytree(original, run)

    def killed(*arguments: Any, **_: Any) -> Any:
        if at != "shutil.rmtree" or not Path(arguments[0]).name.startswith("."):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"promptpo_baselines.checkpoints.{at}", killed)
        with pytest.raises(KeyboardInterrupt):
            train(longer, run, resume=True, display=Display())
    assert train(longer, run, resume=True, display=Display())["steps"]["train"] == 144
