"""Reads a prompt as an engine without a language model sees it: as text, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.codecs.base import DONE, NOT_DONE, REWARD_PREFIX

if TYPE_CHECKING:
    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.values import Kind, Obs


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """What a prompt asks.

    Attributes:
        kind: Inferred from the form of the question and of the last example.
        state: State line of the question.
        action: Index of its action; None for the policy.
    """

    kind: Kind
    state: str
    action: int | None


class PromptReader:
    """Finds the question in a prompt.

    Args:
        codec: The text form of the domain.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._actions = {codec.action(n): n for n in range(len(codec.actions))}
        self._first_lines = {line: n for n, line in enumerate(codec.actions)}
        self.state = lru_cache(maxsize=4096)(codec.parse_obs)

    def read(self, prompt: str) -> ReadPrompt | None:
        """The question at the end of a prompt; None where there is none, or no example before it."""
        examples, gap, question = prompt.rstrip("\n").rpartition("\n\n")
        if not gap:
            return None
        first, _, rest = question.partition("\n")
        if first == self._codec.header:
            return ReadPrompt("policy", rest, None)
        action = self._actions.get(rest)
        if action is None:
            return None
        return ReadPrompt(_kind_of(examples[examples.rfind("\n") + 1 :]), first, action)

    def pairs(self, prompt: str) -> list[tuple[Obs, int]]:
        """State and action of every step that the trajectories of a policy prompt show."""
        lines = prompt.split("\n")
        found = []
        for n, line in enumerate(lines):
            action = self._first_lines.get(line)
            state = self.state(lines[n - 1]) if action is not None else None
            if state is not None and action is not None:
                found.append((state, action))
        return found


def _kind_of(answer: str) -> Kind:
    if answer in (DONE, NOT_DONE):
        return "done"
    return "reward" if answer.startswith(REWARD_PREFIX) else "next"
