"""Imagined rollouts: the consequences of an action, according to the model."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from promptpo_baselines.icpi.prompts import Question

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.model import Answers
    from promptpo_baselines.icpi.setting import Setting

Imagining: TypeAlias = Generator[list[Question], list[str | None], float]
"""Yields questions and returns the discounted sum of imagined rewards; a partial one if an answer was invalid."""


class Imagination:
    """Imagines rollouts by asking questions.

    Args:
        setting: Reads answers; has the discount and the maximum length of rollouts, after which nothing is added.
        answers: Answers the questions.
        rng: Draws an action if the policy gives no valid one.
        fast: Advance the rollouts of all actions together; request termination, both rewards and next state at once.
    """

    def __init__(
        self, setting: Setting, answers: Answers, rng: np.random.Generator, *, fast: bool = False
    ) -> None:
        self._codec, self._answers, self._rng, self._fast = setting.codec, answers, rng, fast
        self._discount, self._max_steps = setting.gamma_plan, setting.max_rollout

    def values(self, state: str) -> list[float]:
        """Return the estimated value of each action in a state line, in the order of the actions."""
        rollouts = [self._imagine(state, action) for action in range(len(self._codec.actions))]
        if self._fast:
            return self._drive(rollouts)
        return [value for rollout in rollouts for value in self._drive([rollout])]

    def _drive(self, rollouts: Sequence[Imagining]) -> list[float]:
        """Advance rollouts together, all their questions of a round in one batch."""
        found: dict[int, float] = {}
        waiting = [(n, next(rollout)) for n, rollout in enumerate(rollouts)]
        while waiting:
            answers = iter(self._answers.ask([question for _, asked in waiting for question in asked]))
            still = []
            for n, asked in waiting:
                try:
                    still.append((n, rollouts[n].send([next(answers) for _ in asked])))
                except StopIteration as stop:
                    found[n] = stop.value
            waiting = still
        return [found[n] for n in range(len(rollouts))]

    def _imagine(self, state: str, action: int) -> Imagining:
        codec, value, depth = self._codec, 0.0, 0
        while True:
            # What comes after the last reward could not change the value, so it is not asked.
            last = depth + 1 == self._max_steps
            asking_done, asking_next = Question("done", state, action), Question("next", state, action)
            rewards = {end: Question("reward", state, action, end) for end in (False, True)}
            known: dict[Question, str | None] = {}
            if self._fast:
                together = [asking_done, *rewards.values(), *([] if last else [asking_next])]
                known = dict(zip(together, (yield together), strict=True))
            done = codec.parse_done((yield from _answer(asking_done, known)) or "")
            if done is None:
                return value
            reward = codec.parse_reward((yield from _answer(rewards[done], known)) or "")
            if reward is None:
                return value
            value += self._discount**depth * reward
            depth += 1
            if done or last:
                return value
            following = yield from _answer(asking_next, known)
            if following is None:
                return value
            state = following
            chosen = codec.parse_action((yield from _answer(Question("policy", state), {})) or "")
            action = int(self._rng.integers(len(codec.actions))) if chosen is None else chosen


def _answer(
    question: Question, known: Mapping[Question, str | None]
) -> Generator[list[Question], list[str | None], str | None]:
    """Answer a question from what is known, or by asking."""
    if question in known:
        return known[question]
    (answer,) = yield [question]
    return answer


def best(values: Sequence[float]) -> list[int]:
    """Return the indices of the largest values."""
    return [n for n, value in enumerate(values) if value >= max(values) - 1e-9]
