"""The prompt of one step: the task, the actions, the last steps, the current observation."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.errors import UnsupportedSpaceError
from promptpo.prompts.feedback import number
from promptpo_baselines.environments import numeric
from promptpo_baselines.icpi.values import CompletionRequest

if TYPE_CHECKING:
    import gymnasium

    from promptpo_baselines.llm_agent.actions import Named, Numbers

MOST_ENTRIES = 256
"""Maximum size of an observation that is written out; larger ones are images."""

LABEL_TOKENS, NUMBER_TOKENS = 8, 64
"""Maximum length of answers: a letter, perhaps in brackets; a few numbers."""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step as later prompts show it.

    Attributes:
        observation: The observation as text.
        action: The action as text.
        reward: Its reward.
    """

    observation: str
    action: str
    reward: float


class Prompts:
    """Writes the question of a step.

    Args:
        spec: The text of the task's spec.
        actions: The possible answers.
        last: Number of earlier steps of the episode to show.
        temperature: Sampling temperature.
        score: Whether to request the log-probabilities of the first token too.
    """

    def __init__(
        self, spec: str, actions: Named | Numbers, *, last: int, temperature: float = 0.0, score: bool = True
    ) -> None:
        self._actions, self._last, self._temperature = actions, last, temperature
        self._score = score and bool(actions.labels)
        self.system = (
            "You control the environment that is described below, one step at a time, so that the return of the "
            f"episode, the sum of its rewards, becomes as large as possible. You answer with {actions.wanted} and "
            "nothing else.\n\n"
        )
        self.head = f"{spec.strip()}\n\nThe actions:\n{actions.describe()}\n\n"

    def request(
        self, steps: Sequence[ShownStep], observation: str, *, attempt: int = 0, refused: str = ""
    ) -> CompletionRequest:
        """Return the request for one step.

        Args:
            steps: The earlier steps of the episode, oldest first.
            observation: The current observation as text.
            attempt: 0 for the first attempt.
            refused: The unreadable answer of the previous attempt.
        """
        first = max(0, len(steps) - self._last)
        shown = [
            f"Step {first + n}\nObservation: {step.observation}\nAction: {step.action}\nReward: {number(step.reward)}\n\n"
            for n, step in enumerate(steps[first:], start=1)
        ]
        note = ""
        if attempt:
            note = f"({json.dumps(refused[:80])} is no answer; an answer is {self._actions.wanted}.)\n"
        now = f"{note}Step {len(steps) + 1}\nObservation: {observation}\nAction: {self._actions.opening}"
        return CompletionRequest(
            "".join(shown),
            now,
            "policy",
            stop=self._actions.stop,
            max_tokens=LABEL_TOKENS if self._actions.labels else NUMBER_TOKENS,
            temperature=self._temperature,
            choices=tuple(self._actions.labels) or None,
            attempt=attempt,
            shared=True,
            system=self.system,
            head=self.head,
            score=self._score,
        )


def format_observation(observation: Any) -> str:
    """Format an observation as text: numbers with four digits, arrays in brackets, text in quotes."""
    if isinstance(observation, str):
        return json.dumps(observation, ensure_ascii=False)
    if isinstance(observation, dict):
        return (
            "{" + ", ".join(f"{key}: {format_observation(value)}" for key, value in observation.items()) + "}"
        )
    if isinstance(observation, tuple | list):
        return "[" + ", ".join(map(format_observation, observation)) + "]"
    array = np.asarray(observation)
    if array.ndim:
        return "[" + ", ".join(format_observation(part) for part in array) + "]"
    return number(float(array))


def check_observations(space: gymnasium.Space[Any], name: str) -> None:
    """Check that observations are small enough to be written out.

    Raises:
        UnsupportedSpaceError: They are not.
    """
    for _, part in numeric(space):
        if math.prod(part.shape or ()) > MOST_ENTRIES:
            raise UnsupportedSpaceError(
                f"{name} observes arrays of shape {part.shape}; llm-agent writes observations as text, of at most "
                f"{MOST_ENTRIES} numbers."
            )
