"""An engine that knows the rules of a domain: what a perfect language model would answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.engines.base import LocalEngine
from promptpo_baselines.icpi.engines.reading import PromptReader, ReadPrompt
from promptpo_baselines.icpi.values import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.domains.base import Domain
    from promptpo_baselines.icpi.values import CompletionRequest, Obs


class OracleEngine(LocalEngine):
    """Sees the prompt only; answers with the true dynamics, in the codec's words.

    Without examples it cannot know what is asked, and answers nothing. As policy it imitates the
    trajectories in the prompt: the majority among the states nearest to the question's.

    Args:
        domain: The rules.
        codec: The domain's text form.
        rng: For dynamics that are random, and for ties.
    """

    name = "oracle"

    def __init__(self, domain: Domain, codec: Codec, rng: np.random.Generator) -> None:
        self._domain, self._codec, self._rng = domain, codec, rng
        self._reader = PromptReader(codec)

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Result]:
        """Complete all requests of a batch, in order."""
        return [Result(self._answer(request.prompt)) for request in requests]

    def _answer(self, prompt: str) -> str:
        reading = self._reader.read(prompt)
        if reading is None:
            return ""
        state = self._reader.state(reading.state)
        if state is None:
            return ""
        return self._world(reading, state) if reading.kind != "policy" else self._imitate(prompt, state)

    def _world(self, reading: ReadPrompt, state: Obs) -> str:
        assert reading.action is not None  # noqa: S101 - only the policy has none
        following, reward, terminal = self._domain.step(state, reading.action, self._rng)
        if reading.kind == "done":
            return self._codec.done(terminal)
        if reading.kind == "reward":
            return self._codec.reward(reward)
        return self._codec.obs(following, hint=" and " in reading.state.removeprefix(self._bare(state)))

    def _bare(self, state: Obs) -> str:
        return self._codec.obs(state, hint=False)

    def _imitate(self, prompt: str, state: Obs) -> str:
        counts = Counter(self._reader.pairs(prompt))
        distances = {seen: self._domain.distance(seen, state) for seen, _ in counts}
        if not counts:
            return ""
        nearest = min(distances.values())
        votes: Counter[int] = Counter()
        for (seen, action), count in counts.items():
            if distances[seen] == nearest:
                votes[action] += count
        return self._codec.actions[self._one_of([a for a, n in votes.items() if n == max(votes.values())])]

    def _one_of(self, actions: list[int]) -> int:
        return actions[int(self._rng.integers(len(actions)))] if len(actions) > 1 else actions[0]
