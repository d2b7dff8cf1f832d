"""From a question to the request that an engine completes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.codecs.base import DONE, NOT_DONE
from promptpo_baselines.icpi.profile import CHARACTERS_PER_TOKEN
from promptpo_baselines.icpi.values import CompletionRequest, Kind

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.examples import ExampleBook, Measure
    from promptpo_baselines.icpi.profile import Profile


PROMPT_TRIES = 5
"""Draws of examples in search of a prompt that a question has not had yet."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a rollout wants to know.

    Attributes:
        kind: Termination, reward, next state, or action.
        state: State line, as it was rendered or completed.
        action: Taken in that state; None when the action is what is asked.
        done: Termination that a reward question supposes.
    """

    kind: Kind
    state: str
    action: int | None = None
    done: bool | None = None


class PromptBuilder:
    """Draws examples and puts the question behind them.

    Args:
        codec: How the question is written.
        book: The examples.
        profile: Budget, balancing, freezing, choices and sampling.
        rng: Decides which examples are shown, and in which order.
        measure: Size of a text in tokens; None estimates it from its length.
    """

    def __init__(
        self,
        codec: Codec,
        book: ExampleBook,
        profile: Profile,
        rng: np.random.Generator,
        measure: Measure | None = None,
    ) -> None:
        self._codec, self._book, self._profile, self._rng = codec, book, profile, rng
        self._measure = measure or len
        self._budget = profile.prompt_tokens if measure else int(profile.prompt_tokens * CHARACTERS_PER_TOKEN)
        self._frozen: dict[tuple[Kind, int | None, bool | None], str] = {}

    def begin_episode(self) -> None:
        """Forget the examples that were frozen for the episode before."""
        self._frozen.clear()

    def begin_decision(self) -> None:
        """Forget the trajectories that were frozen for the decision before."""
        self._frozen.pop(("policy", None, None), None)

    def query(self, question: Question) -> str:
        """The end of the prompt, which the completion continues."""
        if question.action is None:
            return f"{self._codec.header}\n{question.state}\n"
        return f"{question.state}\n{self._codec.action(question.action)}\n"

    def request(self, question: Question, attempt: int, used: set[str]) -> CompletionRequest | None:
        """The request for one try at a question; None where there is no example to show.

        Args:
            question: What is asked.
            attempt: 0 for the first try.
            used: Examples that earlier tries at this question were shown; this try's are added.
        """
        query = self.query(question)
        examples = self._examples(question, query, attempt, used)
        if not examples:
            return None
        return CompletionRequest(
            examples,
            query,
            question.kind,
            choices=self._choices(question.kind) if self._profile.fast else None,
            attempt=attempt,
            shared=self._profile.fast and attempt == 0,
        )

    def _examples(self, question: Question, query: str, attempt: int, used: set[str]) -> str:
        key = (question.kind, question.action, question.done)
        if self._profile.fast and attempt == 0:
            if key not in self._frozen:
                self._frozen[key] = self._draw(question, 2 * self._measure(query))
            used.add(self._frozen[key])
            return self._frozen[key]
        examples = ""
        for _ in range(PROMPT_TRIES):
            examples = self._draw(question, self._measure(query))
            if examples not in used:
                break
        used.add(examples)
        return examples

    def _draw(self, question: Question, reserved: int) -> str:
        """A fresh selection; frozen ones leave room for longer questions than the first."""
        pool = self._book.pool(question.kind, question.action, question.done)
        if not pool.texts:
            return ""
        balance = self._profile.balance and question.kind in ("done", "reward")
        kept = pool.draw(self._budget - reserved, self._rng, balance=balance)
        texts = pool.texts
        return "".join([texts[index] for index in kept])

    def _choices(self, kind: Kind) -> tuple[str, ...] | None:
        if kind == "done":
            return (DONE, NOT_DONE)
        if kind == "policy":
            return tuple(self._codec.actions)
        return self._book.rewards() if kind == "reward" else None
