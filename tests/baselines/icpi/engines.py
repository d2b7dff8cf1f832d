"""Engines for tests: scripted answers, one that is wrong now and then, and one that only copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.llm.base import Completion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.values import CompletionRequest

GARBAGE = "assert ? no such line"


def answered(text: str) -> Completion:
    """An answer that costs nothing."""
    return Completion(text, "test", cost_usd=0.0)


class FreeEngine:
    """An engine that holds nothing."""

    def close(self) -> None:
        """Nothing to release."""


class ScriptedEngine(FreeEngine):
    """Answers by a function of the request, or by a map from its query; remembers what it was asked.

    Args:
        script: Function or map; a query that the map lacks is answered with an empty line.

    Attributes:
        batches: All requests so far, as they came.
    """

    name = "scripted"

    def __init__(self, script: Callable[[CompletionRequest], str] | Mapping[str, str]) -> None:
        self._script = script if callable(script) else lambda request: script.get(request.query, "")
        self.batches: list[tuple[CompletionRequest, ...]] = []

    @property
    def requests(self) -> list[CompletionRequest]:
        """All requests so far, without their batches."""
        return [request for batch in self.batches for request in batch]

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete all requests of a batch, in order."""
        self.batches.append(tuple(requests))
        return [answered(self._script(request)) for request in requests]


class NoisyEngine(FreeEngine):
    """Another engine's answers, some of them garbage, some of them the answer to another question.

    Args:
        inner: Who is disturbed.
        rng: Decides which answers are.
        garbage: Share of answers replaced by a line that is none.
        wrong: Share of answers replaced by a valid answer to an earlier request of the same kind.
    """

    def __init__(
        self, inner: Engine, rng: np.random.Generator, *, garbage: float = 0.0, wrong: float = 0.0
    ) -> None:
        self.name = f"noisy {inner.name}"
        self._inner, self._rng, self._garbage, self._wrong = inner, rng, garbage, wrong
        self._earlier: dict[str, list[str]] = {}

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete all requests of a batch, in order."""
        results = self._inner.complete(requests)
        return [self._disturb(q, result) for q, result in zip(requests, results, strict=True)]

    def _disturb(self, request: CompletionRequest, result: Completion) -> Completion:
        earlier = self._earlier.setdefault(request.kind, [])
        earlier.append(result.text)
        draw = self._rng.random()
        if draw < self._garbage:
            return answered(GARBAGE)
        if draw < self._garbage + self._wrong:
            return answered(earlier[int(self._rng.integers(len(earlier)))])
        return result


class LookupEngine(FreeEngine):
    """Copies what followed the question's lines when they last stood in the prompt; knows nothing else.

    Args:
        codec: Tells a policy prompt by its header.
    """

    name = "lookup"

    def __init__(self, codec: Any) -> None:
        self._header = f"{codec.header}\n"

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete all requests of a batch, in order."""
        return [answered(self._answer(request.examples, request.query)) for request in requests]

    def _answer(self, examples: str, query: str) -> str:
        # In the middle of a trajectory there is no header before a state.
        question = "\n" + query.removeprefix(self._header)
        found = f"\n{examples}".rfind(question)
        if found < 0:
            return ""
        return f"\n{examples}"[found + len(question) :].split("\n", 1)[0]
