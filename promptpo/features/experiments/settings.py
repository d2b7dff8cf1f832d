"""Settings of experiments, ``--option probe`` and ``--option probe_steps``, and their budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from promptpo.core.budget import ALLOTMENTS, Allotment, affordable_units
from promptpo.core.config import Config, Switches
from promptpo.core.feature import FeatureSettings
from promptpo.settings import RunSetting

if TYPE_CHECKING:
    from promptpo.core.budget import Demand
    from promptpo.llm.base import LLM

FIRST_EXPERIMENTS = 3
"""Maximum number of experiments before the first round, in one answer; each later round may have one."""

LEAST_CALLS = 10
"""Minimum limit on calls for experiments; below it, all calls go into policies."""


@dataclass(frozen=True)
class ExperimentSwitches(Switches):
    """Switches of experiments.

    Attributes:
        probe: Let the model write experiments before the first round, and one in later rounds; see docs/experiments.md.
        probe_steps: Maximum number of environment steps per experiment.
    """

    by_recipe: ClassVar = {"paper": {"probe": False}, "evolve": {"probe": False}}

    probe: bool = True
    probe_steps: Annotated[int, RunSetting(least=1)] = 1000


class ExperimentSettings(FeatureSettings):
    """Experiments are on if the switches and the budget allow them."""

    def is_on(self, config: Config, llm: LLM) -> bool:
        """See `FeatureSettings.is_on`."""
        return allowance(config, llm) is not None


def count_experiments(rounds: int) -> int:
    """Return the maximum number of experiments in a run: before the first round, and one in each except the first and last."""
    return FIRST_EXPERIMENTS + max(0, rounds - 2)


def allowance(config: Config, llm: LLM) -> ExperimentSwitches | None:
    """Limits of a run's experiments; None if none are offered.

    Args:
        config: Configuration of the run.
        llm: The model; program search writes no experiments.
    """
    switches, budget = config.of(ExperimentSwitches), config.budget
    if not switches.probe or "probe" not in llm.capabilities.purposes:
        return None
    if {"probe", "probe_steps"} & set(config.recipe_options):
        return switches
    if budget.calls is not None and budget.calls < LEAST_CALLS:
        return None
    steps = affordable_units("probe", budget.steps, count_experiments(budget.rounds), switches.probe_steps)
    return replace(switches, probe_steps=steps) if steps else None


def _demand(config: Config, llm: LLM, _: int) -> Demand | None:
    allowed, count = allowance(config, llm), count_experiments(config.budget.rounds)
    if allowed is None:
        return None
    repairs = min(1, config.repairs * ("repair" in llm.capabilities.purposes))
    return count * allowed.probe_steps, 1 + count * repairs, ""


ALLOTMENTS["probe"] = Allotment(  # steps of each
    "probe", "run experiments", 0.05, 100, 1000, optional=True, demand=_demand
)
