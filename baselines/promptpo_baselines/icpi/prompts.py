"""Construction of the request that an engine completes from a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.codecs.base import DONE, NOT_DONE
from promptpo_baselines.icpi.values import CompletionRequest
from promptpo_baselines.icpi_flags import Kind

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.examples import ExampleBook
    from promptpo_baselines.icpi_flags import Profile

CHARACTERS_PER_TOKEN = 3.0
"""Characters per token of the domains' text in tokenizers of code models; used if an engine counts no tokens."""
PROMPT_TRIES = 5
"""Maximum number of draws of examples in search of a prompt that is new to a question."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a rollout to the language model.

    Attributes:
        kind: Termination, reward, next state, or action.
        state: State line, as rendered or completed.
        action: Action taken in that state; None if the question is about the action.
        done: Termination that a reward question assumes.
    """

    kind: Kind
    state: str
    action: int | None = None
    done: bool | None = None


class PromptBuilder:
    """Draws examples and appends the question to them.

    Args:
        codec: Writes the question.
        book: The examples.
        profile: Budget, balancing, freezing, choices and sampling.
        rng: Determines which examples are shown, and in which order.
    """

    def __init__(self, codec: Codec, book: ExampleBook, profile: Profile, rng: np.random.Generator) -> None:
        self.codec, self.book, self.profile, self._rng = codec, book, profile, rng
        self._budget = int(profile.prompt_tokens * CHARACTERS_PER_TOKEN)
        self._frozen: dict[tuple[Kind, int | None, bool | None], str] = {}

    def begin_episode(self) -> None:
        """Forget the examples that were frozen for the previous episode."""
        self._frozen.clear()

    def begin_decision(self) -> None:
        """Forget the trajectories that were frozen for the previous decision."""
        self._frozen.pop(("policy", None, None), None)

    def query(self, question: Question) -> str:
        """Return the end of the prompt, which the completion continues."""
        if question.action is None:
            return f"{self.codec.header}\n{question.state}\n"
        return f"{question.state}\n{self.codec.action(question.action)}\n"

    def request(self, question: Question, attempt: int, used: set[str]) -> CompletionRequest | None:
        """Return the request for one attempt at a question; None if there is no example to show.

        Args:
            question: The question.
            attempt: 0 for the first attempt.
            used: Examples shown in earlier attempts at this question; those of this attempt are added.
        """
        query = self.query(question)
        examples = self._examples(question, query, attempt, used)
        if not examples:
            return None
        return CompletionRequest(
            examples,
            query,
            question.kind,
            choices=self._choices(question.kind) if self.profile.fast else None,
            attempt=attempt,
            shared=self.profile.fast and attempt == 0,
        )

    def _examples(self, question: Question, query: str, attempt: int, used: set[str]) -> str:
        if self.profile.fast and attempt == 0:  # room is left for longer questions than the first
            key = (question.kind, question.action, question.done)
            if key not in self._frozen:
                self._frozen[key] = self._draw(question, 2 * len(query))
            examples = self._frozen[key]
        else:
            for _ in range(PROMPT_TRIES):
                examples = self._draw(question, len(query))
                if examples not in used:
                    break
        used.add(examples)
        return examples

    def _draw(self, question: Question, reserved: int) -> str:
        """Draw a fresh selection of examples."""
        pool = self.book.pool(question.kind, question.action, question.done)
        balance = self.profile.balance and question.kind in ("done", "reward")
        kept = pool.draw(self._budget - reserved, self._rng, balance=balance) if pool.texts else []
        return "".join(pool.texts[index] for index in kept)

    def _choices(self, kind: Kind) -> tuple[str, ...] | None:
        if kind == "done":
            return (DONE, NOT_DONE)
        if kind == "policy":
            return tuple(self.codec.actions)
        return self.book.list_answers("reward") if kind == "reward" else None
