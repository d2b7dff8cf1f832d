"""Everything that a run does beside the loop: the one table of features, each a folder that is imported only where a run wants it.

A feature's `feature.py` has `install(context, sampler)`, which gives a `promptpo.core.feature.Feature`. They have their turn in the
order of the table. A folder that is taken away is a feature less, and nothing else.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.core.budget import ALLOTMENTS, Allotment, step_allotment, units
from promptpo.run.preflight import duration

if TYPE_CHECKING:
    from promptpo.core.config import Config
    from promptpo.core.feature import SearchContext
    from promptpo.core.recipe import Recipe
    from promptpo.core.sample import Sampler
    from promptpo.llm.base import LLM

TEACHER = "teacher"
"""The name of a trained agent among the references."""

FIRST_EXPERIMENTS = 3
"""Experiments of one answer, before the first round; later rounds may bring one each."""

LEAST_CALLS = 10
"""Where fewer calls are allowed, all of them go into policies."""

GOAL_EPISODES, GOAL_CALLS = 10, 4
"""Episodes of policies that know nothing and of a first one, by two rewards that a goal's model may have written; and calls beside
writing its reward: a first policy, preferences, a better reward, and the verdict on the best."""

SIMULATOR_CALLS = 12
"""For a simulator with three corrections, programs with a repair of each, and two that are grown with a repair of each."""

SIMULATED_SEARCHES, SIMULATED_RATE = 30, 25_000
"""A search takes so many times the simulated steps of one start at most; and steps that a core takes in a second, or fewer are taken."""


def count_experiments(rounds: int) -> int:
    """How many experiments there may be in a run: before the first round, and one in each but the first and the last."""
    return FIRST_EXPERIMENTS + max(0, rounds - 2)


def allowance(config: Config, llm: LLM) -> Recipe | None:
    """Limits of a run's experiments, as a recipe with the steps of each; None if none are offered.

    Args:
        config: What decides the run.
        llm: Who would be asked; program search writes no experiments.
    """
    recipe, budget = config.switches, config.budget
    if not recipe.probe or "probe" not in llm.capabilities.purposes:
        return None
    if {"probe", "probe_steps"} & set(config.recipe_options):
        return recipe
    if budget.calls is not None and budget.calls < LEAST_CALLS:
        return None
    steps = units("probe", budget.steps, count_experiments(budget.rounds), recipe.probe_steps)
    return replace(recipe, probe_steps=steps) if steps else None


def simulates(config: Config, llm: LLM) -> bool:
    """Whether a simulator is written before the first round: by the model, or of learnt formulas where none is asked."""
    wanted = config.recipe == "model" if config.simulate is None else config.simulate
    return wanted and (not llm.capabilities.language_model or "simulator" in llm.capabilities.purposes)


def _simulator_line(config: Config, llm: LLM) -> str:
    """Say what a simulator takes."""
    steps = SIMULATED_SEARCHES * config.switches.simulated_steps
    most = duration(steps / SIMULATED_RATE / min(config.jobs or os.cpu_count() or 1, 3))
    calls = f"at most {SIMULATOR_CALLS} of these calls, and " if llm.capabilities.language_model else ""
    return (
        f"Simulator: {calls}up to {most} of computing for {steps:,} simulated steps, "
        "which are free; --no-simulate turns this off."
    )


ALLOTMENTS.update(
    probe=Allotment(  # steps of each
        "probe",
        "run experiments",
        0.05,
        100,
        1000,
        optional=True,
        demand=lambda config, llm, _: (
            (
                count_experiments(config.budget.rounds) * allowed.probe_steps,
                1
                + count_experiments(config.budget.rounds)
                * min(1, config.repairs * ("repair" in llm.capabilities.purposes)),
                "",
            )
            if (allowed := allowance(config, llm))
            else None
        ),
    ),
    reference=Allotment(  # episodes of each
        "reference",
        "reference policies: random, zero and constant actions",
        0.05,
        0,
        20,
        optional=True,
        demand=lambda config, *_: (step_allotment("reference", config.budget.steps), 0, ""),
    ),
    teacher=Allotment(  # episodes
        "reference",
        "watch the trained agent",
        0.1,
        1,
        10,
        demand=lambda config, _, horizon: (
            (step_allotment(TEACHER, config.budget.steps, horizon), 0, "") if config.teacher else None
        ),
    ),
    reward=Allotment(  # steps of an episode
        "probe",
        "try a reward for the goal",
        0.02,
        50,
        10_000,
        demand=lambda config, llm, _: (
            (
                step_allotment("reward", config.budget.steps, GOAL_EPISODES),
                1 + config.repairs * ("repair" in llm.capabilities.purposes) + GOAL_CALLS,
                "",
            )
            if config.goal and config.task.reward is None
            else None
        ),
    ),
    real=Allotment(  # steps
        "probe",
        "fit and verify a simulator",
        0.65,
        0,
        10_000,
        demand=lambda config, llm, _: (
            (units("real", config.budget.steps, 1), SIMULATOR_CALLS, _simulator_line(config, llm))
            if simulates(config, llm)
            else None
        ),
    ),
)

FEATURES: Mapping[str, Callable[[SearchContext], bool]] = {
    "references": lambda _: True,
    "teacher": lambda context: context.config.teacher is not None,
    "experiments": lambda context: allowance(context.config, context.work.llm) is not None,
    "simulator": lambda context: simulates(context.config, context.work.llm),
    "tuning": lambda context: context.config.switches.tune,
    "film": lambda context: context.camera is not None,
}
"""Folder of each feature, and whether a run wants it. Goals in words and program search come before a loop begins, and are not here."""


def install_features(context: SearchContext, sampler: Sampler) -> None:
    """Register the features that a run wants."""
    for name, wanted in FEATURES.items():
        if wanted(context) and importlib.util.find_spec(f"{__name__}.{name}"):
            module = importlib.import_module(f"{__name__}.{name}.feature")
            sampler.features.register(module.install(context, sampler))
