"""The language model as termination, reward, transition and policy model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from promptpo_baselines.icpi.codecs import first_line
from promptpo_baselines.icpi_flags import Kind

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.prompts import PromptBuilder, Question

ATTEMPTS = 3
"""Attempts at a question before its rollout ends, or its action becomes random."""


class Answers(Protocol):
    """Anything that answers the questions of a rollout."""

    def ask(self, questions: Sequence[Question]) -> list[str | None]:
        """Return one valid line per question, in order; None where there is no valid answer."""
        ...


@dataclass
class Tally:
    """Counts of the completions requested so far.

    Attributes:
        calls: Completions, by kind.
        invalid: Completions that were not valid answers, by kind.
        skipped: Questions for which there was no example, by kind.
        rounds: Batches sent one after the other; a measure of time with a fast server.
    """

    calls: Counter[Kind] = field(default_factory=Counter)
    invalid: Counter[Kind] = field(default_factory=Counter)
    skipped: Counter[Kind] = field(default_factory=Counter)
    rounds: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the counts for results."""
        return {
            "asked": dict(self.calls),
            "invalid": dict(self.invalid),
            "without_examples": dict(self.skipped),
            "rounds": self.rounds,
        }


class InContextModel:
    """Answers questions by completing prompts, with further tries after invalid completions.

    Args:
        builder: Builds requests, from the examples of a book.
        engine: Completes requests.
        rng: Random generator of randomised components.

    Attributes:
        tally: Calls and invalid answers so far.
    """

    def __init__(self, builder: PromptBuilder, engine: Engine, rng: np.random.Generator) -> None:
        self.builder, self.book, self._codec = builder, builder.book, builder.codec
        self._engine, self._randomize, self._rng = engine, builder.profile.randomize or (), rng
        self.tally = Tally()

    def ask(self, questions: Sequence[Question]) -> list[str | None]:
        """Return one valid line per question, in order; None after `ATTEMPTS` invalid ones."""
        answers = [
            self._at_random(question.kind) if question.kind in self._randomize else None
            for question in questions
        ]
        used: list[set[str]] = [set() for _ in questions]
        open_ones = [n for n, answer in enumerate(answers) if answer is None]
        for attempt in range(ATTEMPTS):
            requests = {n: self.builder.request(questions[n], attempt, used[n]) for n in open_ones}
            sent = {n: request for n, request in requests.items() if request is not None}
            self.tally.skipped.update(questions[n].kind for n in open_ones if n not in sent)
            open_ones = []
            if not sent:
                break
            self.tally.rounds += 1
            for n, result in zip(sent, self._engine.complete([*sent.values()]), strict=True):
                kind = questions[n].kind
                self.tally.calls[kind] += 1
                if self._codec.parse(kind, result.text) is None:
                    self.tally.invalid[kind] += 1
                    open_ones.append(n)
                else:
                    answers[n] = first_line(result.text)
        return answers

    def _at_random(self, kind: Kind) -> str | None:
        known = self._codec.actions if kind == "policy" else self.book.list_answers(kind)
        return known[int(self._rng.integers(len(known)))] if known else None
