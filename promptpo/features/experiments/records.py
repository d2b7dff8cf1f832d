"""Experiments as values for the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from promptpo.core.journal import from_json


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment that the model wrote, and its results.

    Attributes:
        id: Unique in its run, for example "p2.1", which contains its round.
        source: The module, repaired if necessary; empty if the model wrote none.
        report: Its report on each episode, cleaned and bounded; empty if it failed.
        problem: Why there is no report, or what is wrong with it, as a clause; empty without a problem.
        episodes: Number of finished episodes.
        steps: Environment steps, including those of a repaired version.
        repairs: Number of repair calls it took.
        call: Journal key of the answer that contained it.
        earned: Minimum and maximum reward of a step; empty if unknown.
        ends: Steps after which the environment ended its episodes.
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
        """Round whose answers contained it; 0 for experiments requested before the first."""
        number = self.id[1:].partition(".")[0]
        return int(number) if number.isdecimal() else 0


def experiments_in(events: Mapping[str, Any]) -> list[Experiment]:
    """Return the experiments of a run, oldest first.

    Args:
        events: Data of the "experiment" events, by key.
    """
    return in_order(from_json(Experiment, data) for data in events.values())


def in_order(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Sort experiments, oldest first."""
    return sorted(experiments, key=lambda experiment: (experiment.round, experiment.id))
