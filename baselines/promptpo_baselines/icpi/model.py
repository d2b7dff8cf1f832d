"""The language model as termination, reward, transition and policy model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from promptpo_baselines.icpi.codecs import first_line
from promptpo_baselines.icpi.profile import ATTEMPTS
from promptpo_baselines.icpi.values import Kind

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.examples import ExampleBook
    from promptpo_baselines.icpi.profile import Profile
    from promptpo_baselines.icpi.prompts import PromptBuilder, Question


class Answers(Protocol):
    """Whatever a rollout can ask."""

    def ask(self, questions: Sequence[Question]) -> list[str | None]:
        """One valid line per question, in order; None where there is no valid answer."""
        ...


@dataclass
class Tally:
    """What asking has cost.

    Attributes:
        calls: Completions, by kind.
        invalid: Completions that were no valid answer, by kind.
        skipped: Questions for which there was no example, by kind.
        rounds: Batches that were sent one after the other; a measure of time with a fast server.
    """

    calls: Counter[Kind] = field(default_factory=Counter)
    invalid: Counter[Kind] = field(default_factory=Counter)
    skipped: Counter[Kind] = field(default_factory=Counter)
    rounds: int = 0

    def as_json(self) -> dict[str, Any]:
        """For results."""
        return {
            "asked": dict(self.calls),
            "invalid": dict(self.invalid),
            "without_examples": dict(self.skipped),
            "rounds": self.rounds,
        }


class InContextModel:
    """Answers questions by completing prompts, with further tries after invalid completions.

    Args:
        codec: Reads completions.
        builder: Makes requests.
        book: What was seen, for components that are randomised.
        engine: Completes requests.
        profile: Which kinds are randomised.
        rng: For randomised components.
        attempts: Tries at a question.

    Attributes:
        tally: Calls and invalid answers so far.
    """

    def __init__(
        self,
        codec: Codec,
        builder: PromptBuilder,
        book: ExampleBook,
        engine: Engine,
        profile: Profile,
        rng: np.random.Generator,
        attempts: int = ATTEMPTS,
    ) -> None:
        self._codec, self.builder, self.book = codec, builder, book
        self._engine, self._profile, self._rng, self._attempts = engine, profile, rng, attempts
        self.tally = Tally()

    def ask(self, questions: Sequence[Question]) -> list[str | None]:
        """One valid line per question, in order; None after as many invalid ones as the profile allows."""
        randomized = self._profile.randomize or ()
        answers = [self._at_random(asked.kind) if asked.kind in randomized else None for asked in questions]
        used: list[set[str]] = [set() for _ in questions]
        open_ones = [n for n, answer in enumerate(answers) if answer is None]
        for attempt in range(self._attempts):
            if not open_ones:
                break
            open_ones = self._try(questions, answers, open_ones, used, attempt)
        return answers

    def _try(
        self,
        questions: Sequence[Question],
        answers: list[str | None],
        open_ones: list[int],
        used: list[set[str]],
        attempt: int,
    ) -> list[int]:
        """Send one batch, fill in the valid answers, and return the questions to try again."""
        requests = [(n, self.builder.request(questions[n], attempt, used[n])) for n in open_ones]
        self.tally.skipped.update(questions[n].kind for n, request in requests if request is None)
        sent = [(n, request) for n, request in requests if request is not None]
        if not sent:
            return []
        results = self._engine.complete([request for _, request in sent])
        self.tally.rounds += 1
        again = []
        for (n, request), result in zip(sent, results, strict=True):
            self.tally.calls[request.kind] += 1
            answer = self._valid(request.kind, result.text)
            if answer is None:
                self.tally.invalid[request.kind] += 1
                again.append(n)
                continue
            answers[n] = answer
        return again

    def _at_random(self, kind: Kind) -> str | None:
        if kind == "policy":
            return self._codec.actions[int(self._rng.integers(len(self._codec.actions)))]
        seen = sorted(set(self.book.seen(kind)))
        return seen[int(self._rng.integers(len(seen)))] if seen else None

    def _valid(self, kind: Kind, completion: str) -> str | None:
        codec = self._codec
        parse: Callable[[str], object] = {
            "done": codec.parse_done, "reward": codec.parse_reward, "next": codec.parse_obs, "policy": codec.parse_action,
        }[kind]  # fmt: skip
        return None if parse(completion) is None else first_line(completion)
