"""The values of ICPI, all of them frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from promptpo_baselines.icpi_flags import Kind

Number: TypeAlias = int | float
Obs: TypeAlias = tuple[Number, ...]
"""An observation as a flat tuple of Python numbers, whatever space it came from."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One step in memory.

    Attributes:
        obs: Observation before the action.
        action: Index of the action.
        reward: Reward of the step.
        terminal: Whether the environment ended the episode; False at a time limit.
        next_obs: Observation after the action; meaningless if `terminal`.
    """

    obs: Obs
    action: int
    reward: float
    terminal: bool
    next_obs: Obs


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A request for one completion.

    Attributes:
        examples: The prompt's examples, or the part of the prompt that further requests may share.
        query: The rest of the prompt; the completion continues it.
        kind: Kind of question; engines may use it for accounting, never for answering.
        stop: Strings before which the completion ends.
        max_tokens: Maximum length of the completion.
        temperature: Sampling temperature.
        choices: The only valid completions, if the set is closed; engines may ignore it.
        attempt: 0 for the first attempt at a question; part of the cache key, so that retries differ.
        shared: Whether other requests will repeat `examples`, so that caching its prefix pays.
        system: The model's instructions, before everything else; if empty, the examples must do.
        head: Precedes the examples; unlike them it is never left out, and all requests share it.
        score: Whether the likeliest first tokens of the completion are requested too, if the engine provides them.
    """

    examples: str
    query: str
    kind: Kind
    stop: tuple[str, ...] = ("\n",)
    max_tokens: int = 100
    temperature: float = 0.1
    choices: tuple[str, ...] | None = None
    attempt: int = 0
    shared: bool = False
    system: str = ""
    head: str = ""
    score: bool = False

    @property
    def prompt(self) -> str:
        """The whole text that the completion continues."""
        return self.system + self.head + self.examples + self.query


@dataclass(frozen=True, slots=True)
class EpisodeLog:
    """One episode.

    Attributes:
        seed: Seed of the environment's reset.
        end_step: Environment steps of the run when it ended.
        return_: Undiscounted return.
        discounted: Return at the discount used for regret.
        regret: Optimal minus achieved return; None if the optimum is unknown.
        transitions: The steps.
    """

    seed: int
    end_step: int
    return_: float
    discounted: float
    regret: float | None
    transitions: Sequence[Transition]
