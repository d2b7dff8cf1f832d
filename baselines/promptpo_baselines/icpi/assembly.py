"""Assembly of an agent from a setting, a method and a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from promptpo_baselines.icpi.agents import Agent, NoArgMaxAgent, PlanningAgent, Randomness, TabularQAgent
from promptpo_baselines.icpi.examples import ExampleBook
from promptpo_baselines.icpi.matching import MatchingModel
from promptpo_baselines.icpi.memory import Memory
from promptpo_baselines.icpi.model import InContextModel
from promptpo_baselines.icpi.prompts import PromptBuilder
from promptpo_baselines.icpi.rollout import Imagination

if TYPE_CHECKING:
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.icpi_flags import Method, Profile

_STREAMS = ("warm-up", "ties", "prompts", "rollout", "components", "engine")


def stream(seed: int, name: str) -> np.random.Generator:
    """Return one of the independent random streams of a run.

    Args:
        seed: Seed of the run.
        name: Purpose of the stream.
    """
    return np.random.default_rng([seed, _STREAMS.index(name)])


def assemble(
    setting: Setting,
    method: Method,
    profile: Profile,
    *,
    engine: Engine | None = None,
    seed: int = 0,
    bootstrap_terminal: bool = False,
) -> Agent:
    """Assemble a fresh agent.

    Args:
        setting: The setting that it acts in.
        method: The kind of agent.
        profile: Its options.
        engine: Completes prompts; needed for the methods in `WITH_ENGINE`.
        seed: Seed of all random streams.
        bootstrap_terminal: See `TabularQAgent`.
    """
    randomness = Randomness(stream(seed, "warm-up"), stream(seed, "ties"))
    if method == "random":
        return Agent(setting, randomness)
    if method == "tabular-q":
        return TabularQAgent(setting, randomness, bootstrap_terminal=bootstrap_terminal)
    codec, memory, answers = setting.codec, Memory(), None
    if method != "matching":
        if engine is None:
            raise ValueError(f"{method} needs an engine")
        success = setting.rules.success_threshold if method == "no-argmax" else None
        book = ExampleBook(codec, profile, max_excerpt=setting.max_excerpt, min_return=success)
        builder = PromptBuilder(codec, book, profile, stream(seed, "prompts"))
        answers = InContextModel(builder, engine, stream(seed, "components"))
        if method == "no-argmax":
            return NoArgMaxAgent(setting, randomness, profile, answers)
    answering = answers or MatchingModel(codec, memory)
    imagination = Imagination(setting, answering, stream(seed, "rollout"), fast=profile.fast)
    return PlanningAgent(setting, randomness, memory, imagination, profile, answers)
