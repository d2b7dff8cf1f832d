"""Experiments as values that go into the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from promptpo.core.journal import from_json


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment that the model wrote, and what it showed.

    Attributes:
        id: Unique in its run, for example "p2.1"; its number is that of `round`.
        source: The module, repaired where that was needed; empty where the model wrote none.
        report: What it reported of each episode, clean and bounded; empty where it failed.
        problem: Why there is no report, or what was wrong with it, as a clause; empty where nothing was.
        episodes: Finished ones.
        steps: Environment steps, those of a version that was repaired included.
        repairs: How many repair calls it took.
        call: Journal key of the answer that it came with.
        earned: The least and the greatest reward of one of its steps; empty where that is not known.
        ends: Steps after which the environment ended episodes of it.
    """

    id: str
    source: str
    report: str = ""
    problem: str = ""
    episodes: int = 0
    steps: int = 0
    repairs: int = 0
    call: str = ""
    earned: tuple[float, ...] = ()
    ends: tuple[int, ...] = ()

    @property
    def round(self) -> int:
        """The round whose answers brought it; 0 for those that were asked for before the first."""
        number = self.id[1:].partition(".")[0]
        return int(number) if number.isdecimal() else 0


def experiments_in(events: Mapping[str, Any]) -> list[Experiment]:
    """The experiments of a run, oldest first.

    Args:
        events: Data of the events of that kind, by key.
    """
    return in_order(from_json(Experiment, data) for data in events.values())


def in_order(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Sort experiments, oldest first."""
    return sorted(experiments, key=lambda experiment: (experiment.round, experiment.id))
