"""An engine that knows the rules of a domain and answers as a perfect language model would."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from promptpo.llm.base import Completion
from promptpo_baselines.icpi.codecs.base import DONE, NOT_DONE, REWARD_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.domains.base import Domain
    from promptpo_baselines.icpi.values import CompletionRequest, Obs


class OracleEngine:
    """Sees the prompt only; answers with the true dynamics, in the codec's words.

    Without examples it cannot know what is asked, and returns an empty answer. As policy it imitates the trajectories
    in the prompt: the majority among the states nearest to the question's.

    Args:
        domain: The rules.
        codec: The domain's text form.
        rng: Random generator of the dynamics, and of ties.
    """

    name = "oracle"

    def __init__(self, domain: Domain, codec: Codec, rng: np.random.Generator) -> None:
        self._domain, self._codec, self._rng = domain, codec, rng
        self._actions = {codec.action(n): n for n in range(len(codec.actions))}
        self._state = lru_cache(maxsize=4096)(codec.parse_obs)

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete all requests of a batch, in order."""
        return [Completion(self._answer(request.prompt), self.name, cost_usd=0.0) for request in requests]

    def close(self) -> None:
        """Do nothing."""

    def _answer(self, prompt: str) -> str:
        codec = self._codec
        examples, _, question = prompt.rstrip("\n").rpartition("\n\n")
        line, _, rest = question.partition("\n")
        asks_policy = line == codec.header
        state, action = self._state(rest if asks_policy else line), self._actions.get(rest)
        if not examples or state is None:
            return ""
        if asks_policy:
            return self._imitate(examples, state)
        if action is None:
            return ""
        following, reward, terminal = self._domain.step(state, action, self._rng)
        answer = examples.rpartition("\n")[2]  # of the last example, which tells what is asked
        if answer in (DONE, NOT_DONE):
            return codec.done(terminal)
        if answer.startswith(REWARD_PREFIX):
            return codec.reward(reward)
        return codec.obs(following, hint=line != codec.obs(state, hint=False))

    def _imitate(self, examples: str, state: Obs) -> str:
        actions = self._codec.actions
        steps = Counter(
            (seen, actions.index(line))
            for before, line in pairwise(examples.split("\n"))
            if line in actions and (seen := self._state(before)) is not None
        )
        distances = {seen: self._domain.distance(seen, state) for seen, _ in steps}
        votes: Counter[int] = Counter()
        for (seen, action), count in steps.items():
            if distances[seen] == min(distances.values()):
                votes[action] += count
        most = [action for action, count in votes.items() if count == max(votes.values())]
        return actions[most[int(self._rng.integers(len(most)))]] if most else ""
