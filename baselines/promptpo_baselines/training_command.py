"""Code shared by the commands that train. Importing it imports nothing heavy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promptpo_baselines.flags import PlaceFlags
    from promptpo_baselines.settings import TrainingSettings


def run_training(
    settings: TrainingSettings,
    place: PlaceFlags,
    max_seconds: float | None = None,
    told: Callable[[Mapping[str, Any]], str] | None = None,
) -> None:
    """Train by `promptpo_baselines.training.train` with a display that fits, and print the result.

    Args:
        settings: What to train.
        place: Where to, and what is shown.
        max_seconds: Of this piece.
        told: Says more of a result.

    Raises:
        UsageError: The run cannot be gone on with, or is there already.
    """
    from promptpo.core.control import obey_interrupts
    from promptpo_baselines.progress import Display
    from promptpo_baselines.training import train

    directory = place.directory(settings.task)
    obey_interrupts()
    with contextlib.closing(Display(quiet=place.silent)) as display:
        content = train(
            settings,
            directory,
            resume=place.resume,
            display=display,
            max_seconds=max_seconds,
            trust=place.trust,
        )
    place.show(content, directory, *([told(content)] if told else []))
