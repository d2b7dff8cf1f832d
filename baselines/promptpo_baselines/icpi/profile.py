"""The switches of the agent, and the two settings of them that have names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from promptpo_baselines.icpi.values import Kind

CHARACTERS_PER_TOKEN = 3.0
"""Of the domains' text, by the tokenizers of code models; used where an engine counts no tokens."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How the agent prompts and plans.

    Attributes:
        context: Latest episodes that the policy prompt draws from (the paper's c).
        warm_up: Episodes after which half of the decisions are the model's.
        temperature: Sampling temperature.
        max_tokens: Longest completion.
        attempts: Tries at a question before its rollout ends, or its action becomes random.
        prompt_tries: Draws of examples in search of a prompt that this question has not had yet.
        prompt_tokens: Budget of a prompt; whole examples are left out to keep it.
        hint: State lines show comparisons that follow from the state.
        balance: Rare answers are repeated until all answers are equally frequent in a prompt.
        constrain: Examples have the question's action (and, for rewards, its termination).
        randomize: Kinds that are answered at random from what was seen, instead of by the engine.
        freeze: The examples of a prompt stay the same within an episode, so that prefixes can be cached;
            those of the policy within one decision, because rollouts that all follow the same few
            trajectories were measurably worse on the maze.
        lockstep: The rollouts of all actions advance together, as one batch.
        speculate: Termination, both rewards and next state are asked at once, before the termination
            is known; some answers are then thrown away.
        choices: Engines that can are held to the valid answers, where these are a closed set.
        memo: A question that was answered in this episode is not asked again (the paper does ask).
        lenient_state: A state line only has to begin like one, as in the paper.
        canonical_states: Predicted states are written anew with our own hints, which tells the model more
            than the paper did.
    """

    context: int = 8
    warm_up: int = 3
    temperature: float = 0.1
    max_tokens: int = 100
    attempts: int = 3
    prompt_tries: int = 5
    prompt_tokens: int = 3800
    hint: bool = True
    balance: bool = True
    constrain: bool = True
    randomize: frozenset[Kind] = frozenset()
    freeze: bool = False
    lockstep: bool = False
    speculate: bool = False
    choices: bool = False
    memo: bool = False
    lenient_state: bool = False
    canonical_states: bool = False

    def as_json(self) -> dict[str, object]:
        """All switches as JSON values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "randomize": sorted(self.randomize)}


PROFILES: Mapping[str, Profile] = {
    "paper": Profile(),
    "fast": Profile(freeze=True, lockstep=True, speculate=True, choices=True),
}
