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
    """Train by `promptpo_baselines.training.train` with a suitable display, and print the result.

    Args:
        settings: Settings of the run.
        place: Where the run is stored, and what is shown of it.
        max_seconds: Time limit of this call.
        told: Returns another line about the result.

    Raises:
        UsageError: The run cannot be continued, or already exists.
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
