"""Engines for tests: a scripted one, a noisy one, and one that only copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.llm.base import Completion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.values import CompletionRequest

GARBAGE = "assert ? no such line"


def free_completion(text: str) -> Completion:
    """Return a completion that costs nothing."""
    return Completion(text, "test", cost_usd=0.0)


class FreeEngine:
    """An engine without resources."""

    def close(self) -> None:
        """Do nothing."""


class ScriptedEngine(FreeEngine):
    """Answers by a function of the request, or by a map from its query, and records requests.

    Args:
        script: Function or map; a query missing in the map gets an empty line.

    Attributes:
        batches: All requests so far, by batch.
    """

    name = "scripted"

    def __init__(self, script: Callable[[CompletionRequest], str] | Mapping[str, str]) -> None:
        self._script = script if callable(script) else lambda request: script.get(request.query, "")
        self.batches: list[tuple[CompletionRequest, ...]] = []

    @property
    def requests(self) -> list[CompletionRequest]:
        """Return all requests so far, without their batches."""
        return [request for batch in self.batches for request in batch]

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete all requests of a batch, in order."""
        self.batches.append(tuple(requests))
        return [free_completion(self._script(request)) for request in requests]


class NoisyEngine(FreeEngine):
    """Another engine's answers, some replaced by garbage or by the answer to another question.

    Args:
        inner: The engine to disturb.
        rng: Selects the answers.
        garbage: Share of answers replaced by an invalid line.
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
            return free_completion(GARBAGE)
        if draw < self._garbage + self._wrong:
            return free_completion(earlier[int(self._rng.integers(len(earlier)))])
        return result


class LookupEngine(FreeEngine):
    """Copies the line that followed the question's last occurrence in the prompt.

    Args:
        codec: Its header marks a policy prompt.
    """

    name = "lookup"

    def __init__(self, codec: Any) -> None:
        self._header = f"{codec.header}\n"

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete all requests of a batch, in order."""
        return [free_completion(self._answer(request.examples, request.query)) for request in requests]

    def _answer(self, examples: str, query: str) -> str:
        # In the middle of a trajectory no header precedes a state.
        question = "\n" + query.removeprefix(self._header)
        at = f"\n{examples}".rfind(question)
        if at < 0:
            return ""
        return f"\n{examples}"[at + len(question) :].split("\n", 1)[0]
