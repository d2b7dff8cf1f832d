"""The values that ICPI passes around; all frozen."""

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
    """One step as it is remembered.

    Attributes:
        obs: Before the action.
        action: Index of the action.
        reward: What the step gave.
        terminal: The environment ended the episode; False at a time limit.
        next_obs: After the action; of no meaning where `terminal`.
    """

    obs: Obs
    action: int
    reward: float
    terminal: bool
    next_obs: Obs


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One completion to be made.

    Attributes:
        examples: The prompt's examples, or the part of the prompt that further requests may share.
        query: The rest of the prompt; the completion continues it.
        kind: What is asked; engines may use it for accounting, never for answering.
        stop: Strings before which the completion ends.
        max_tokens: Its longest length.
        temperature: Sampling temperature.
        choices: The only valid completions, where the set is closed; engines may ignore it.
        attempt: 0 for the first try at a question; part of the cache key, so that retries differ.
        shared: `examples` will come again in other requests, so that caching its prefix pays.
        system: What the model is told it is to do, before everything else; empty leaves it to the examples.
        head: Comes before the examples; unlike them it is never left out, and all requests share it.
        score: The likeliest first tokens of the completion are wanted too, where the engine can tell them.
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
        """All of the text that the completion continues."""
        return self.system + self.head + self.examples + self.query


@dataclass(frozen=True, slots=True)
class EpisodeLog:
    """One episode.

    Attributes:
        seed: What the environment was reset with.
        end_step: Environment steps of the run when it ended.
        return_: Undiscounted return.
        discounted: Return at the discount that regret is measured with.
        regret: Optimal minus achieved return; None where the optimum is not known.
        transitions: The steps.
    """

    seed: int
    end_step: int
    return_: float
    discounted: float
    regret: float | None
    transitions: Sequence[Transition]
