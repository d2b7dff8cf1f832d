"""The examples that prompts may show, rendered once, and the selection of those for one prompt."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.memory import Episode
    from promptpo_baselines.icpi.values import Transition
    from promptpo_baselines.icpi_flags import Kind, Profile

PoolKey: TypeAlias = tuple["Kind", int | None, bool | None]


@dataclass
class Pool:
    """Examples for one kind of prompt.

    Attributes:
        texts: Texts that end with a blank line.
        answers: Indices of the examples with each answer line; balancing equalises their numbers.
    """

    texts: list[str] = field(default_factory=list)
    answers: dict[str, list[int]] = field(default_factory=dict)

    def add(self, text: str, answer: str = "") -> None:
        """Append one example."""
        self.answers.setdefault(answer, []).append(len(self.texts))
        self.texts.append(text)

    def draw(self, budget: int, rng: np.random.Generator, *, balance: bool) -> list[int]:
        """Return the indices of a random selection, in random order, whose texts together have at most `budget` characters.

        All examples are shuffled and the longest part that fits is kept. The order is random, so which end
        is cut makes no difference; whole examples are kept or left out.

        Args:
            budget: Maximum number of characters.
            rng: Source of the draws.
            balance: Repeat the rarer answers until all are as frequent as the most frequent one.
        """
        indices = self._balance(rng) if balance and len(self.answers) > 1 else np.arange(len(self.texts))
        order = rng.permutation(indices)
        ends = np.array([len(text) for text in self.texts])[order].cumsum()
        kept: list[int] = order[: int(ends.searchsorted(budget, side="right"))].tolist()
        return kept

    def _balance(self, rng: np.random.Generator) -> np.ndarray:
        most = max(len(members) for members in self.answers.values())
        parts = []
        for members in self.answers.values():
            # Whole copies, then as many more as are missing, drawn without replacement.
            copies, missing = divmod(most, len(members))
            parts.append(np.tile(members, copies))
            if missing:
                parts.append(rng.permutation(members)[:missing])
        return np.concatenate(parts)


class ExampleBook:
    """The pools of all prompts; it grows with the memory.

    Args:
        codec: Writes transitions.
        profile: Hints, constraints, and the length of the policy's context.
        max_excerpt: Maximum steps of a trajectory's pieces in the policy prompt.
        min_return: Show the policy only pieces whose rewards add up to more; None shows all.
    """

    def __init__(
        self, codec: Codec, profile: Profile, *, max_excerpt: int, min_return: float | None = None
    ) -> None:
        self._codec, self._profile = codec, profile
        self._max_excerpt, self._min_return = max_excerpt, min_return
        self._pools: dict[PoolKey, Pool] = {}
        self._excerpts: deque[list[str]] = deque(maxlen=profile.context)

    def add_episode(self, episode: Episode) -> None:
        """Add the examples of a finished episode."""
        for step in episode:
            self._add_transition(step)
        self._excerpts.append(list(self._excerpts_of(episode)))
        self._pools["policy", None, None] = policy = Pool()
        for text in (text for texts in self._excerpts for text in texts):
            policy.add(text)

    def pool(self, kind: Kind, action: int | None = None, done: bool | None = None) -> Pool:
        """Return the examples for one question.

        Args:
            kind: Kind of question.
            action: The question's action; None for the policy.
            done: The termination that the question assumes; for rewards only.
        """
        return self._pools.get(self._key(kind, action, done)) or Pool()

    def list_answers(self, kind: Kind) -> tuple[str, ...]:
        """Return all answers of one kind seen so far."""
        found = {answer for key, pool in self._pools.items() if key[0] == kind for answer in pool.answers}
        return tuple(sorted(found))

    def _key(self, kind: Kind, action: int | None, done: bool | None) -> PoolKey:
        if not self._profile.constrain:
            return kind, None, None
        return kind, action, done if kind == "reward" else None

    def _add_transition(self, step: Transition) -> None:
        codec, hint = self._codec, self._profile.hint
        question = f"{codec.obs(step.obs, hint=hint)}\n{codec.action(step.action)}\n"
        answers: dict[Kind, str] = {"done": codec.done(step.terminal), "reward": codec.reward(step.reward)}
        if not step.terminal:
            answers["next"] = codec.obs(step.next_obs, hint=hint)
        for kind, answer in answers.items():
            pool = self._pools.setdefault(self._key(kind, step.action, step.terminal), Pool())
            pool.add(f"{question}{answer}\n\n", answer)

    def _excerpts_of(self, episode: Episode) -> Iterator[str]:
        """Yield all contiguous pieces of an episode, each with the header of a new one."""
        steps = [self._step_text(step) for step in episode]
        for start in range(len(steps)):
            total = 0.0
            for end in range(start + 1, min(start + self._max_excerpt, len(steps)) + 1):
                total += episode[end - 1].reward
                if self._min_return is None or total > self._min_return:
                    yield f"{self._codec.header}\n{''.join(steps[start:end])}\n"

    def _step_text(self, step: Transition) -> str:
        codec = self._codec
        lines = [
            codec.obs(step.obs, hint=self._profile.hint),
            codec.action(step.action),
            codec.reward(step.reward) + codec.step_suffix,
        ]
        if codec.done_in_trajectory:
            lines.append(codec.done(step.terminal))
        return "\n".join(lines) + "\n"
