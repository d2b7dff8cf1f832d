"""Imagined rollouts: what an action would lead to, according to the model."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from promptpo_baselines.icpi.prompts import Question

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.model import Answers

T = TypeVar("T")

End = Literal["terminal", "cap", "invalid_done", "invalid_reward", "invalid_next"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One imagined rollout.

    Attributes:
        value: Discounted sum of the imagined rewards; a partial one where an answer was invalid.
        steps: Imagined steps whose reward is in `value`.
        end: Why the rollout ended.
    """

    value: float
    steps: int
    end: End


@dataclass(frozen=True, slots=True)
class _Step:
    """One imagined step; None where there was no valid answer, or none was needed."""

    done: bool | None = None
    reward: float | None = None
    state: str | None = None


Asking: TypeAlias = Generator[list[Question], list[str | None], _Step]
Imagining: TypeAlias = Generator[list[Question], list[str | None], Estimate]


class Imagination:
    """Makes rollouts by asking.

    Args:
        codec: Reads answers.
        answers: Who is asked.
        discount: Of the imagined rewards.
        max_steps: Longest rollout; nothing is added for what would come after.
        rng: Draws an action where the policy gives no valid one.
        fast: Advance the rollouts of all actions together, and ask for termination, both rewards and next state at once.
    """

    def __init__(
        self,
        codec: Codec,
        answers: Answers,
        *,
        discount: float,
        max_steps: int,
        rng: np.random.Generator,
        fast: bool = False,
    ) -> None:
        self._codec, self._answers, self._rng = codec, answers, rng
        self._discount, self._max_steps = discount, max_steps
        self._fast = fast
        self._step = self._at_once if fast else self._one_by_one

    def values(self, state: str) -> list[Estimate]:
        """One rollout per action from a state line, in the order of the actions."""
        rollouts = [self._imagine(state, action) for action in range(len(self._codec.actions))]
        if self._fast:
            return self._drive(rollouts)
        return [estimate for rollout in rollouts for estimate in self._drive([rollout])]

    def _drive(self, rollouts: Sequence[Imagining]) -> list[Estimate]:
        """Advance rollouts together, all their questions of a round in one batch."""
        estimates: dict[int, Estimate] = {}
        waiting = [(n, next(rollout)) for n, rollout in enumerate(rollouts)]
        while waiting:
            answers = iter(self._answers.ask([question for _, asked in waiting for question in asked]))
            still = []
            for n, asked in waiting:
                try:
                    still.append((n, rollouts[n].send([next(answers) for _ in asked])))
                except StopIteration as stop:
                    estimates[n] = stop.value
            waiting = still
        return [estimates[n] for n in range(len(rollouts))]

    def _imagine(self, state: str, action: int) -> Imagining:
        value, weight = 0.0, 1.0
        for depth in range(self._max_steps):
            # What comes after the last reward could not change the value, so it is not asked.
            last = depth + 1 == self._max_steps
            step = yield from self._step(state, action, last=last)
            if step.done is None:
                return Estimate(value, depth, "invalid_done")
            if step.reward is None:
                return Estimate(value, depth, "invalid_reward")
            value += weight * step.reward
            weight *= self._discount
            if step.done:
                return Estimate(value, depth + 1, "terminal")
            if last:
                break
            if step.state is None:
                return Estimate(value, depth + 1, "invalid_next")
            state = step.state
            (answer,) = yield [Question("policy", state)]
            chosen = None if answer is None else self._codec.parse_action(answer)
            action = int(self._rng.integers(len(self._codec.actions))) if chosen is None else chosen
        return Estimate(value, self._max_steps, "cap")

    def _one_by_one(self, state: str, action: int, *, last: bool) -> Asking:
        """As in the paper: each question knows the answers before it."""
        (answer,) = yield [Question("done", state, action)]
        done = _read(self._codec.parse_done, answer)
        if done is None:
            return _Step()
        (answer,) = yield [Question("reward", state, action, done)]
        reward = _read(self._codec.parse_reward, answer)
        if reward is None or done or last:
            return _Step(done, reward)
        (following,) = yield [Question("next", state, action)]
        return _Step(done, reward, following)

    def _at_once(self, state: str, action: int, *, last: bool) -> Asking:
        """The same questions in one batch, with the reward for both terminations."""
        questions = [
            Question("done", state, action),
            *(Question("reward", state, action, d) for d in (False, True)),
        ]
        if not last:
            questions.append(Question("next", state, action))
        answer, *rest = yield questions
        done = _read(self._codec.parse_done, answer)
        if done is None:
            return _Step()
        reward = _read(self._codec.parse_reward, rest[int(done)])
        return _Step(done, reward, None if done or last else rest[2])


def _read(parse: Callable[[str], T | None], answer: str | None) -> T | None:
    return None if answer is None else parse(answer)


def best(values: Iterable[float], tolerance: float = 1e-9) -> list[int]:
    """Indices of the largest values."""
    values = list(values)
    top = max(values)
    return [n for n, value in enumerate(values) if value >= top - tolerance]
