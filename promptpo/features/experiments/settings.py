"""Settings of experiments, ``--option probe`` and ``--option probe_steps``, and what they take of the budget."""

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
"""Experiments of one answer, before the first round; later rounds may bring one each."""

LEAST_CALLS = 10
"""Where fewer calls are allowed, all of them go into policies."""


@dataclass(frozen=True)
class ExperimentSwitches(Switches):
    """What a model may try out beside policies.

    Attributes:
        probe: Let the model write experiments before the first round, and one in later rounds; see docs/experiments.md.
        probe_steps: Environment steps of an experiment, at most.
    """

    by_recipe: ClassVar = {"paper": {"probe": False}, "evolve": {"probe": False}}

    probe: bool = True
    probe_steps: Annotated[int, RunSetting(least=1)] = 1000


class ExperimentSettings(FeatureSettings):
    """Switches alone decide."""

    def is_on(self, config: Config, llm: LLM) -> bool:
        """See `FeatureSettings.is_on`."""
        return allowance(config, llm) is not None


def count_experiments(rounds: int) -> int:
    """How many experiments there may be in a run: before the first round, and one in each but the first and the last."""
    return FIRST_EXPERIMENTS + max(0, rounds - 2)


def allowance(config: Config, llm: LLM) -> ExperimentSwitches | None:
    """Limits of a run's experiments; None if none are offered.

    Args:
        config: What decides the run.
        llm: Who would be asked; program search writes no experiments.
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
