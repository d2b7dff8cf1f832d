"""Checkpoints: everything that a run needs to continue, in one directory that is either complete or absent."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.journal import from_json
from promptpo.errors import RunError, UsageError
from promptpo.files import read_json, read_regular
from promptpo.run.origin import SIGNED, is_signed_here, sign

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecEnv

FOLDER = "checkpoints"
MODEL = "model.zip"
BEST_MODEL = "best_model.zip"
BUFFER = "replay_buffer.pkl"
RECORD = "record.json"
FILES = "files.json"
"""Digests of all other files of a checkpoint, signed, because most of them are unpickled."""
BEST = "best"
"""Folder of a checkpoint with the best agent so far."""


@dataclass
class Record:
    """State of a training run apart from its model.

    Attributes:
        steps: Training steps taken.
        train_seconds: Wall time of training, evaluations not counted.
        evaluation_seconds: Wall time of evaluations.
        validation_steps: Environment steps of evaluations on validation seeds.
        curve: One entry for each evaluation.
        best: The entry of the best one, the later one in a tie; None before the first.
        episodes: For each finished training episode: steps of the run when it ended, its return, its length.
        best_source: The best policy as a module, if the run writes one.
        program: State of the program beside the network, if there is one, as plain data.
    """

    steps: int = 0
    train_seconds: float = 0.0
    evaluation_seconds: float = 0.0
    validation_steps: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, Any] | None = None
    episodes: list[tuple[int, float, int]] = field(default_factory=list)
    best_source: str = ""
    program: dict[str, Any] | None = None


class Checkpoints:
    """The checkpoints of a run; only the newest is kept.

    Args:
        directory: The run directory.
    """

    def __init__(self, directory: Path) -> None:
        self._run, self._folder = directory, directory / FOLDER

    def latest(self) -> Path | None:
        """Return the newest checkpoint; None if there is none."""
        found = sorted(self._folder.glob("steps-*"))
        return found[-1] if found else None

    @property
    def best_model(self) -> Path:
        """The best agent in the newest checkpoint, which is signed, unlike the file in the run directory."""
        return (self.latest() or self._folder) / BEST / MODEL

    def read(self, checkpoint: Path) -> Record:
        """Read the record of a checkpoint.

        Raises:
            RunError: It is damaged.
        """
        try:
            return from_json(Record, read_json(checkpoint / RECORD))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise RunError(f"the checkpoint {checkpoint} is damaged; remove it to start again.") from error

    def check_signed(self) -> None:
        """Check that every file of the newest checkpoint is as it was written on this machine.

        Raises:
            UsageError: A file was changed, added or removed, or somebody else wrote it.
        """
        folder = self.latest()
        if folder is None:
            return
        try:
            text = read_regular(folder / FILES).decode()
            own = is_signed_here(text) and text.rpartition(SIGNED)[0] == _list_files(folder)
        except (OSError, ValueError):
            own = False
        if not own:
            raise UsageError(
                f"{folder} is not as it was written on this machine, and loading it can run any code. "
                "If you trust it, add --trust (trust=True from Python)."
            )

    def write(self, model: BaseAlgorithm, envs: VecEnv, record: Record, *, is_best: bool) -> None:
        """Write a checkpoint, under a temporary name until it is complete, and remove the older ones.

        The best agent so far is part of it, so that a kill at any instant leaves a best agent that
        belongs to the record.
        """
        previous = self.latest()
        target = self._folder / f"steps-{record.steps:012d}"
        unfinished = self._folder / f".{target.name}.{os.getpid()}"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        _save(model, envs, unfinished)
        if is_best:
            shutil.copytree(unfinished, unfinished / BEST)
        elif previous is not None and (previous / BEST).exists():
            shutil.copytree(previous / BEST, unfinished / BEST)
        if hasattr(model, "save_replay_buffer"):  # it learns off-policy
            model.save_replay_buffer(unfinished / BUFFER)
        (unfinished / RECORD).write_text(json.dumps(asdict(record)), encoding="utf-8")
        (unfinished / FILES).write_text(sign(_list_files(unfinished)), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        unfinished.rename(target)
        for old in self._folder.iterdir():
            if old != target:
                shutil.rmtree(old)
        self._publish(target)

    def _publish(self, checkpoint: Path) -> None:
        """Copy the best agent to where people look for it: RUN/best_model.zip and RUN/vecnormalize.pkl."""
        best = checkpoint / BEST
        for file in best.iterdir() if best.exists() else ():
            public = BEST_MODEL if file.name == MODEL else file.name
            temporary = self._run / f".{public}.{os.getpid()}"
            shutil.copyfile(file, temporary)
            temporary.replace(self._run / public)


def _list_files(folder: Path) -> str:
    """Return paths and digests of a checkpoint's files, of any size, as a line of JSON.

    Raises:
        OSError: One of them is a link or a device, or cannot be read.
    """
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise OSError(f"{path} is not a regular file")
        if path.is_file() and path != folder / FILES:
            with path.open("rb") as file:
                digests[str(path.relative_to(folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    return json.dumps(digests) + "\n"


def _save(model: BaseAlgorithm, envs: VecEnv, folder: Path) -> None:
    """Write what is needed to play: the model, and the statistics of its inputs."""
    from promptpo_baselines.building import (
        normalizers,
    )  # whose imports take seconds; a run that is refused needs none

    model.save(folder / MODEL)
    for wrapper, name in normalizers(envs).items():
        wrapper.save(str(folder / name))
