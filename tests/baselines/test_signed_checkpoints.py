"""What a run has saved is unpickled only as it was written on this machine, whichever file of it somebody changed."""

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
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> Any:
        return Path.touch, (self._trace,)


def settings(folder: Path, algorithm: Any, rows: str) -> TrainingSettings:
    """A short run with statistics of observations."""
    file = folder / "rows.yml"
    file.write_text(rows)
    return TrainingSettings(
        algorithm, Task("Pendulum-v1", {}, 40), steps=total(96), hyperparameters=str(file), eval_every=48,
        validation_episodes=1, test_episodes=1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[TrainingSettings, Path]]:
    """Complete runs of an on-policy and an off-policy algorithm, whose best agent is the first, with their settings."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo_baselines.training_run.TrainingRun._better", lambda *_: False)
        for algorithm, rows in (("ppo", ROWS), ("sac", OFF_POLICY)):
            folder = tmp_path_factory.mktemp(algorithm)
            chosen = settings(folder, algorithm, rows)
            train(chosen, folder / "run", resume=False, display=Display())
            found[algorithm] = chosen, folder / "run"
    return found


def put_pickle(path: Path, trace: Path) -> None:
    """Put a pickle that leaves a trace into a file, the way that its kind holds pickles."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("extra", pickle.dumps(Evil(trace)))
    else:
        path.write_bytes(pickle.dumps(Evil(trace)))


def add(path: Path, trace: Path) -> None:
    """Lay another file beside it."""
    put_pickle(path.with_name("vec_normalize.pkl"), trace)


def newer(path: Path, _: Path) -> None:
    """Add a checkpoint of more steps, with a file less."""
    folder = next(parent for parent in path.parents if parent.name.startswith("steps-"))
    later = folder.with_name("steps-999999999999")
    shutil.copytree(folder, later)
    (later / path.relative_to(folder)).unlink()


CHANGES: list[Callable[[Path, Path], Any]] = [put_pickle, add, newer, lambda path, _: path.unlink()]


def each_change() -> Iterator[Any]:
    """Every file of a checkpoint, changed in every way."""
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
def test_a_changed_file_of_a_checkpoint_wants_trust(
    algorithm: str, name: str, number: int, made: Any, tmp_path: Path
) -> None:
    """Whichever file was changed, added or removed: nothing is loaded, and trusting it lets the run go on."""
    chosen, original = made[algorithm]
    run, trace = tmp_path / "run", tmp_path / "trace"
    shutil.copytree(original, run)
    checkpoint = checkpoints.Checkpoints(run).latest()
    assert sorted(map(str, each_file(checkpoint))) == sorted(
        {each for kind, each, _ in each_change() if kind == algorithm}
    )
    longer = replace(chosen, steps=total(144))
    training.prepare(longer, run, resume=True)  # as it was written it needs no trust
    CHANGES[number](checkpoint / name, trace)
    with pytest.raises(UsageError, match=r"can run any code.*--trust"):
        train(longer, run, resume=True, display=Display())
    assert not trace.exists()
    training.prepare(longer, run, resume=True, trust=True)


def each_file(folder: Path) -> Iterator[Path]:
    """The files below a folder, by their paths in it."""
    return (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("record.json")])
def test_a_checkpoint_has_regular_files_only(make: Any, made: Any, tmp_path: Path) -> None:
    """A pipe is not waited for, and a link not followed."""
    chosen, original = made["ppo"]
    shutil.copytree(original, tmp_path / "run")
    make(checkpoints.Checkpoints(tmp_path / "run").latest() / "another.pkl")
    with pytest.raises(UsageError, match="--trust"):
        training.prepare(chosen, tmp_path / "run", resume=True)


OPENED: list[Path] = []
WATCHED: list[Path] = []
"""The run whose opened files are noted; a hook stays for as long as its process."""


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if WATCHED and event == "open" and isinstance(arguments[0], str) and "r" in str(arguments[1]):
        OPENED.append(Path(arguments[0]))


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_a_run_that_goes_on_loads_its_checkpoint_only(algorithm: str, made: Any, tmp_path: Path) -> None:
    """Agents and statistics that lie elsewhere in its folder are for people: whatever they hold, they are not read."""
    chosen, original = made[algorithm]
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
        train(chosen, run, resume=True, display=Display())  # only its test is left to do
    finally:
        WATCHED.clear()
    read = {path for path in OPENED if path.is_relative_to(run) and path.suffix in {".zip", ".pkl", ".pth"}}
    assert {path.parent.name for path in read} >= {"best"}
    assert {path.relative_to(run).parts[0] for path in read} == {"checkpoints"}
    assert not trace.exists()


@pytest.mark.parametrize("at", ["sign", "shutil.rmtree", "Path.rename"])
def test_a_kill_while_a_checkpoint_is_written_keeps_the_run(
    at: str, made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is complete the one before it is there, with its signature; the run goes on without trust."""
    chosen, original = made["ppo"]
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
