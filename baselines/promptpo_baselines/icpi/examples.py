"""Which examples a prompt may show, rendered once, and how a prompt's share of them is drawn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.memory import Episode
    from promptpo_baselines.icpi.profile import Profile
    from promptpo_baselines.icpi.values import Kind, Transition

Measure: TypeAlias = Callable[[str], int]
PoolKey: TypeAlias = tuple["Kind", int | None, bool | None]


@dataclass
class Pool:
    """Examples that may stand in one kind of prompt.

    Attributes:
        texts: Each ends with a blank line.
        sizes: In the unit of the prompt budget.
        classes: Answer to the indices of the examples that show it; balancing equalises these.
        answers: The answer line of each example.
    """

    texts: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    classes: dict[Hashable, list[int]] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)

    def add(self, text: str, size: int, answer: str, answer_class: Hashable) -> None:
        """Append one example."""
        self.classes.setdefault(answer_class, []).append(len(self.texts))
        self.texts.append(text)
        self.sizes.append(size)
        self.answers.append(answer)

    def draw(self, budget: int, rng: np.random.Generator, *, balance: bool) -> list[int]:
        """Indices of a random selection, in random order, whose sizes add up to at most `budget`.

        All examples are shuffled and the longest part that fits is kept. The order is random, so which end
        is cut makes no difference; whole examples are kept or left out.

        Args:
            budget: In the unit of `sizes`.
            rng: Where the draws come from.
            balance: Repeat the rarer classes until all are as frequent as the most frequent one.
        """
        indices = self._balanced(rng) if balance and len(self.classes) > 1 else np.arange(len(self.texts))
        order = rng.permutation(indices)
        ends = np.asarray(self.sizes)[order].cumsum()
        kept: list[int] = order[: int(ends.searchsorted(budget, side="right"))].tolist()
        return kept

    def _balanced(self, rng: np.random.Generator) -> np.ndarray:
        most = max(len(members) for members in self.classes.values())
        parts = []
        for members in self.classes.values():
            # Whole copies, then as many more as are missing, drawn without replacement.
            copies, missing = divmod(most, len(members))
            parts.append(np.tile(members, copies))
            if missing:
                parts.append(rng.permutation(members)[:missing])
        return np.concatenate(parts)


class ExampleBook:
    """The pools of all prompts; it grows with the memory.

    Args:
        codec: How transitions are written.
        profile: Hints, constraints, and the length of the policy's context.
        max_excerpt: Longest piece of a trajectory that the policy prompt shows, in steps.
        measure: Size of a text in the unit of the prompt budget.
        min_return: Show the policy only pieces whose rewards add up to more; None shows all.
    """

    def __init__(
        self,
        codec: Codec,
        profile: Profile,
        *,
        max_excerpt: int,
        measure: Measure = len,
        min_return: float | None = None,
    ) -> None:
        self._codec, self._profile, self._measure = codec, profile, measure
        self._max_excerpt, self._min_return = max_excerpt, min_return
        self._pools: dict[PoolKey, Pool] = {}
        self._excerpts: deque[list[tuple[str, int]]] = deque(maxlen=profile.context)
        self._policy: Pool | None = None

    def add_episode(self, episode: Episode) -> None:
        """Add the examples that a finished episode gives."""
        for step in episode:
            self._add_transition(step)
        self._excerpts.append(list(self._excerpts_of(episode)))
        self._policy = None

    def pool(self, kind: Kind, action: int | None = None, done: bool | None = None) -> Pool:
        """The examples for one question.

        Args:
            kind: What is asked.
            action: The question's action; not for the policy.
            done: The termination that the question supposes; for rewards only.
        """
        if kind == "policy":
            return self._policy_pool()
        return self._pools.get(self._key(kind, action, done)) or Pool()

    def rewards(self) -> tuple[str, ...]:
        """The reward lines that were ever seen."""
        return tuple(
            sorted(
                {answer for key, pool in self._pools.items() if key[0] == "reward" for answer in pool.answers}
            )
        )

    def seen(self, kind: Kind) -> list[str]:
        """All answers of one kind that were ever seen, with repetitions."""
        return [answer for key, pool in self._pools.items() if key[0] == kind for answer in pool.answers]

    def _key(self, kind: Kind, action: int | None, done: bool | None) -> PoolKey:
        if not self._profile.constrain:
            return kind, None, None
        return kind, action, done if kind == "reward" else None

    def _add_transition(self, step: Transition) -> None:
        codec = self._codec
        question = f"{codec.obs(step.obs, hint=self._profile.hint)}\n{codec.action(step.action)}\n"
        self._add("done", step, question, codec.done(step.terminal), step.terminal)
        self._add("reward", step, question, codec.reward(step.reward), step.reward)
        if not step.terminal:
            self._add("next", step, question, codec.obs(step.next_obs, hint=self._profile.hint), None)

    def _add(self, kind: Kind, step: Transition, question: str, answer: str, answer_class: Hashable) -> None:
        pool = self._pools.setdefault(self._key(kind, step.action, step.terminal), Pool())
        text = f"{question}{answer}\n\n"
        pool.add(text, self._measure(text), answer, answer_class)

    def _policy_pool(self) -> Pool:
        if self._policy is None:
            self._policy = Pool()
            for text, size in (excerpt for episode in self._excerpts for excerpt in episode):
                self._policy.add(text, size, "", None)
        return self._policy

    def _excerpts_of(self, episode: Episode) -> Iterator[tuple[str, int]]:
        """All contiguous pieces of an episode, each with the header of a new one."""
        header = f"{self._codec.header}\n"
        steps = [self._step_text(step) for step in episode]
        sizes = [self._measure(step) for step in steps]
        around = self._measure(header) + self._measure("\n")
        for start in range(len(episode)):
            piece = slice(start, start + self._max_excerpt)
            returns = accumulate(step.reward for step in episode[piece])
            for length, (size, total) in enumerate(zip(accumulate(sizes[piece]), returns, strict=True), 1):
                if self._min_return is None or total > self._min_return:
                    yield f"{header}{''.join(steps[start : start + length])}\n", around + size

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
