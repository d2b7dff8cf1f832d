"""The paper's Matching Model: exact matches in memory instead of a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.memory import Memory
    from promptpo_baselines.icpi.prompts import Question
    from promptpo_baselines.icpi.values import Transition
    from promptpo_baselines.icpi_flags import Kind


class MatchingModel:
    """Answers with the latest transition whose state (and action) is exactly the question's.

    States are compared as text without hints. Without a match there is no answer, and the rollout that asked ends; its
    policy acts at random.

    Args:
        codec: Writes states.
        memory: The memory to search, all of it.
    """

    def __init__(self, codec: Codec, memory: Memory) -> None:
        self._codec, self._memory = codec, memory
        self._latest: dict[tuple[str, int | None], Transition] = {}
        self._known = 0
        self._lines: dict[Kind, Callable[[Transition], str]] = {
            "policy": lambda step: codec.actions[step.action],
            "done": lambda step: codec.done(step.terminal),
            "reward": lambda step: codec.reward(step.reward),
            "next": lambda step: codec.obs(step.next_obs, hint=False),
        }

    def ask(self, questions: Sequence[Question]) -> list[str | None]:
        """Return one line per question, in order; None where nothing matches."""
        for step in self._memory.transitions[self._known :]:
            state = self._codec.obs(step.obs, hint=False)
            self._latest[state, step.action] = self._latest[state, None] = step
        self._known = len(self._memory.transitions)
        found = ((question, self._latest.get((question.state, question.action))) for question in questions)
        return [None if step is None else self._lines[question.kind](step) for question, step in found]
