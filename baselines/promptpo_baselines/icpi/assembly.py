"""Puts an agent together from a setting, a method and a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from promptpo_baselines.icpi.agents import Agent, NoArgMaxAgent, PlanningAgent, Randomness, TabularQAgent
from promptpo_baselines.icpi.examples import ExampleBook, Measure
from promptpo_baselines.icpi.matching import MatchingModel
from promptpo_baselines.icpi.memory import Memory
from promptpo_baselines.icpi.model import InContextModel, Tally
from promptpo_baselines.icpi.prompts import PromptBuilder
from promptpo_baselines.icpi.rollout import Imagination

if TYPE_CHECKING:
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.profile import Profile
    from promptpo_baselines.icpi.setting import Setting

Method = Literal["icpi", "no-argmax", "tabular-q", "matching", "random"]
WITH_ENGINE: frozenset[Method] = frozenset({"icpi", "no-argmax"})
"""Methods that ask a language model."""

_STREAMS = ("warm-up", "ties", "prompts", "rollout", "components", "engine")


def stream(seed: int, name: str) -> np.random.Generator:
    """One of the independent random streams of a run.

    Args:
        seed: Of the run.
        name: What the stream is for.
    """
    return np.random.default_rng([seed, _STREAMS.index(name)])


@dataclass(frozen=True)
class Assembled:
    """An agent and what it has cost so far.

    Attributes:
        agent: Acts and learns.
        tally: Calls and invalid answers; all zero for methods without a language model.
    """

    agent: Agent
    tally: Tally


def assemble(
    setting: Setting,
    method: Method,
    profile: Profile,
    *,
    engine: Engine | None = None,
    seed: int = 0,
    measure: Measure | None = None,
    bootstrap_terminal: bool = False,
) -> Assembled:
    """A fresh agent.

    Args:
        setting: What it acts in.
        method: Which agent.
        profile: Its switches.
        engine: Completes prompts; needed for the methods in `WITH_ENGINE`.
        seed: Of all random streams.
        measure: Tokens of a text; None estimates them from its length.
        bootstrap_terminal: The quirk of the released Tabular Q.
    """
    randomness = Randomness(stream(seed, "warm-up"), stream(seed, "ties"))
    if method == "random":
        return Assembled(Agent(setting, randomness), Tally())
    if method == "tabular-q":
        table = TabularQAgent(setting, randomness, bootstrap_terminal=bootstrap_terminal)
        return Assembled(table, Tally())
    codec, memory, answers = setting.codec, Memory(profile.context), None
    if method != "matching":
        if engine is None:
            raise ValueError(f"{method} needs an engine")
        success = setting.rules.success_threshold if method == "no-argmax" else None
        excerpt = setting.max_excerpt
        book = ExampleBook(codec, profile, max_excerpt=excerpt, measure=measure or len, min_return=success)
        builder = PromptBuilder(codec, book, profile, stream(seed, "prompts"), measure)
        answers = InContextModel(codec, builder, book, engine, profile, stream(seed, "components"))
        if method == "no-argmax":
            return Assembled(NoArgMaxAgent(setting, randomness, profile, answers), answers.tally)
    imagination = Imagination(
        codec,
        answers or MatchingModel(codec, memory),
        discount=setting.gamma_plan,
        max_steps=setting.max_rollout,
        rng=stream(seed, "rollout"),
        fast=profile.fast,
    )
    hint = answers is not None and profile.hint
    agent = PlanningAgent(setting, randomness, memory, imagination, hint=hint, model=answers)
    return Assembled(agent, answers.tally if answers else Tally())
