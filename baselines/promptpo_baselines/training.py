"""One training run: prepare it, train to the end or for a while, and write its result."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

from promptpo.errors import UsageError
from promptpo.files import FOLDER_MODE, create_directory
from promptpo.output.report import RESULT, write_atomically, write_result
from promptpo.run.origin import check_trust
from promptpo_baselines.checkpoints import Checkpoints
from promptpo_baselines.progress import Display
from promptpo_baselines.results import read_result
from promptpo_baselines.settings import CONFIG, TrainingSettings, load_settings, same_run, save_settings

REWARD = "reward.py"
"""The reward program, if there is one."""
PROGRAM = "program.py"
"""The program that a network is trained from, if there is one."""
PAUSED = "paused; repeat the command with --resume to continue"
MATMUL = {"float32": "highest", "tf32": "high", "bfloat16": "medium"}
"""Torch's names for the precisions of matrix products."""


def train(
    settings: TrainingSettings,
    directory: Path,
    *,
    resume: bool,
    display: Display,
    max_seconds: float | None = None,
    trust: bool = False,
) -> dict[str, Any]:
    """Train an agent and write ``result.json``, and ``best_model.zip`` (best on validation seeds) into a directory.

    Args:
        settings: Settings of the run.
        directory: The run directory, created if necessary.
        resume: Continue the run that is there; a complete one is run again only if it gets more steps.
        display: Shows the progress.
        max_seconds: Time limit of this call; then the run pauses between two rollouts, and `resume` continues it.
        trust: Continue a run not made here, although loading its saved training can run any code.

    Returns:
        The content of ``result.json``; for a paused run only why it stopped (`PAUSED`) and its steps.

    Raises:
        UsageError: The directory holds something else or is not trusted, or the settings do not fit together.
    """
    prepare(settings, directory, resume=resume, trust=trust)
    done = read_result(directory)
    if done is not None and load_settings(directory) == settings:
        display.line(f"{directory} is complete.")
        return done
    import torch  # takes seconds, and is not needed for a run that is refused or complete

    from promptpo_baselines.training_run import PausedRun, TrainingRun

    torch.set_num_threads(settings.threads)
    torch.set_float32_matmul_precision(MATMUL[(settings.language or {}).get("matmul", "float32")])
    kind = TrainingRun
    if settings.prior is not None:
        from promptpo_baselines.refine.run import RefineRun as kind  # noqa: N813
    try:
        run = kind(settings, directory, display)
    except Exception:  # an environment that cannot be built leaves no empty directory
        with contextlib.suppress(OSError):
            directory.rmdir()
        raise
    run.pause_at = None if max_seconds is None else time.monotonic() + max_seconds
    try:
        (directory / RESULT).unlink(missing_ok=True)
        _write_inputs(settings, directory)
        content = run.complete()
    except PausedRun:
        display.line(f"  paused after {run.record.steps:,} of {settings.steps:,} steps")
        return {"stop_reason": PAUSED, "steps": {"train": run.record.steps}}
    except KeyboardInterrupt:
        display.line(run.interrupted)
        raise
    finally:
        run.close()
    return write_result(directory, content)


def _write_inputs(settings: TrainingSettings, directory: Path) -> None:
    """Write the settings, and the programs that they name."""
    save_settings(settings, directory)
    if settings.task.reward is not None:
        write_atomically(directory / REWARD, settings.task.reward.source)
    if settings.prior is not None:
        write_atomically(directory / PROGRAM, settings.prior["source"])


def prepare(settings: TrainingSettings, directory: Path, *, resume: bool, trust: bool = False) -> None:
    """Prepare a directory for a run.

    Raises:
        UsageError: It holds something other than this run, `resume` is false, or it is neither own nor trusted.
    """
    create_directory(directory, FOLDER_MODE)
    if (directory / CONFIG).exists():
        if not resume:
            raise UsageError(
                f"{directory} already holds a run; continue it with --resume, or choose another --out."
            )
        if not trust:
            does = "loads saved training state, which can run any code"
            check_trust(directory, does, ["the same with --trust (trust=True from Python)"])
            Checkpoints(directory).check_signed()
        if not same_run(load_settings(directory), settings):
            raise UsageError(
                f"{directory} holds a run with other settings (see its {CONFIG}); only --max-steps may change."
            )
    elif any(directory.iterdir()):
        raise UsageError(f"{directory} is not empty and holds no run of a baseline; choose another --out.")
