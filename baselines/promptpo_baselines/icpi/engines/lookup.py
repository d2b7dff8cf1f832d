"""An engine that only remembers: the answer of the last example with the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo_baselines.icpi.engines.base import LocalEngine
from promptpo_baselines.icpi.values import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.values import CompletionRequest


class LookupEngine(LocalEngine):
    """Copies what followed the question's lines when they last stood in the prompt; knows nothing else.

    Args:
        codec: Tells a policy prompt by its header.
    """

    name = "lookup"

    def __init__(self, codec: Codec) -> None:
        self._header = f"{codec.header}\n"

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Result]:
        """Complete all requests of a batch, in order."""
        return [Result(self._answer(request.examples, request.query)) for request in requests]

    def _answer(self, examples: str, query: str) -> str:
        # In the middle of a trajectory there is no header before a state.
        question = "\n" + query.removeprefix(self._header)
        found = f"\n{examples}".rfind(question)
        if found < 0:
            return ""
        return f"\n{examples}"[found + len(question) :].split("\n", 1)[0]
