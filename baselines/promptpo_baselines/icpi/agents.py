"""The agents: ICPI itself, and those that it is compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from promptpo_baselines.icpi.prompts import Question
from promptpo_baselines.icpi.rollout import best
from promptpo_baselines.icpi.values import Decision

if TYPE_CHECKING:
    from promptpo_baselines.icpi.codecs import Codec
    from promptpo_baselines.icpi.examples import ExampleBook
    from promptpo_baselines.icpi.memory import Episode, Memory
    from promptpo_baselines.icpi.model import InContextModel
    from promptpo_baselines.icpi.rollout import Imagination
    from promptpo_baselines.icpi.values import Obs, Transition


class Agent:
    """Acts, and learns at the end of an episode or after each step."""

    def begin_episode(self) -> None:
        """An episode begins."""

    def act(self, obs: Obs) -> Decision:
        """Choose an action."""
        raise NotImplementedError

    def observe(self, step: Transition) -> None:
        """Learn from one step; not called in test episodes."""

    def end_episode(self, episode: Episode) -> None:
        """Learn from a finished episode; not called in test episodes."""


def own_choice_probability(experience: int, warm_up: int) -> float:
    """How often an agent decides for itself; otherwise it acts at random.

    Args:
        experience: Episodes that count as experience.
        warm_up: Where the probability is a half.
    """
    return 1.0 / (1.0 + math.exp(2.0 * (warm_up - experience)))


@dataclass
class Randomness:
    """Separate streams, so that one kind of draw does not shift the others.

    Attributes:
        warm_up: Whether to act at random, and how.
        ties: Which of several best actions.
    """

    warm_up: np.random.Generator
    ties: np.random.Generator

    def acts_at_random(self, experience: int, warm_up: int) -> bool:
        """Whether the next action is drawn at random."""
        return bool(self.warm_up.random() >= own_choice_probability(experience, warm_up))

    def any_action(self, n_actions: int) -> Decision:
        """An action drawn uniformly."""
        return Decision(int(self.warm_up.integers(n_actions)), warm_up=True)

    def among_best(self, values: tuple[float, ...], ends: tuple[str, ...] = ()) -> Decision:
        """The best action; equally good ones are drawn from uniformly."""
        tied = best(values)
        action = tied[int(self.ties.integers(len(tied)))] if len(tied) > 1 else tied[0]
        return Decision(action, values, len(tied), ends=ends)


class EqualChanceAgent(Agent):
    """Every action with equal chance.

    Args:
        n_actions: How many there are.
        randomness: Where the draws come from.
    """

    def __init__(self, n_actions: int, randomness: Randomness) -> None:
        self._n_actions, self._randomness = n_actions, randomness

    def act(self, obs: Obs) -> Decision:
        """Draw an action."""
        del obs
        return self._randomness.any_action(self._n_actions)


class PlanningAgent(Agent):
    """ICPI: one imagined rollout per action, then the action whose return is largest.

    With a `MatchingModel` in place of the language model, it is the paper's Matching Model baseline.

    Args:
        codec: How states are written.
        memory: What it has lived through.
        imagination: Makes the rollouts.
        randomness: Warm-up and ties.
        warm_up: Episodes after which half of the decisions are its own.
        hint: State lines have hints.
        model: The in-context model to keep up to date; None for models that read the memory itself.
        book: Its examples.
    """

    def __init__(
        self,
        codec: Codec,
        memory: Memory,
        imagination: Imagination,
        randomness: Randomness,
        *,
        warm_up: int,
        hint: bool,
        model: InContextModel | None = None,
        book: ExampleBook | None = None,
    ) -> None:
        self._codec, self._memory, self._imagination = codec, memory, imagination
        self._randomness, self._warm_up, self._hint = randomness, warm_up, hint
        self._model, self._book = model, book

    def begin_episode(self) -> None:
        """Draw frozen examples anew."""
        if self._model is not None:
            self._model.begin_episode()

    def act(self, obs: Obs) -> Decision:
        """Plan, or act at random while there is little to plan from."""
        n_actions = len(self._codec.actions)
        at_random = self._randomness.acts_at_random(len(self._memory.recent), self._warm_up)
        if at_random or not self._memory.ready(n_actions):
            return self._randomness.any_action(n_actions)
        if self._model is not None:
            self._model.begin_decision()
        estimates = self._imagination.values(self._codec.obs(obs, hint=self._hint))
        values = tuple(estimate.value for estimate in estimates)
        return self._randomness.among_best(values, tuple(estimate.end for estimate in estimates))

    def end_episode(self, episode: Episode) -> None:
        """Remember the episode."""
        self._memory.add_episode(episode)
        if self._book is not None:
            self._book.add_episode(episode)


class NoArgMaxAgent(Agent):
    """Acts as the policy prompt says, which shows successful pieces of trajectories only.

    Args:
        codec: How states are written.
        model: The policy.
        book: Its examples.
        randomness: Warm-up and invalid answers.
        warm_up: Successful episodes after which half of the decisions are the model's.
        success_threshold: An episode succeeded when its return is larger.
        context: Latest successful episodes that count.
        hint: State lines have hints.
    """

    def __init__(
        self,
        codec: Codec,
        model: InContextModel,
        book: ExampleBook,
        randomness: Randomness,
        *,
        warm_up: int,
        success_threshold: float,
        context: int,
        hint: bool,
    ) -> None:
        self._codec, self._model, self._book, self._randomness = codec, model, book, randomness
        self._warm_up, self._threshold = warm_up, success_threshold
        self._context, self._hint = context, hint
        self._successes = 0

    def begin_episode(self) -> None:
        """Draw frozen examples anew."""
        self._model.begin_episode()

    def act(self, obs: Obs) -> Decision:
        """Imitate what succeeded, or act at random while little has."""
        n_actions = len(self._codec.actions)
        at_random = self._randomness.acts_at_random(min(self._successes, self._context), self._warm_up)
        if at_random or not self._book.pool("policy").texts:
            return self._randomness.any_action(n_actions)
        (answer,) = self._model.ask([Question("policy", self._codec.obs(obs, hint=self._hint))])
        action = None if answer is None else self._codec.parse_action(answer)
        return self._randomness.any_action(n_actions) if action is None else Decision(action)

    def end_episode(self, episode: Episode) -> None:
        """Remember a successful episode."""
        if sum(step.reward for step in episode) > self._threshold:
            self._successes += 1
            self._book.add_episode(episode)


class TabularQAgent(Agent):
    """Q-learning with learning rate 1 and optimistic initial values.

    Args:
        codec: States are told apart by their text without hints.
        randomness: Warm-up and ties.
        discount: Of future values.
        warm_up: Episodes after which half of the decisions are its own.
        success_threshold: Episodes whose return reaches it count as experience.
        bootstrap_terminal: Add the value of the state after a terminal step, as the paper's released
            code does; its curve on mini-catch is reproduced only with it.
    """

    INITIAL = 1.0

    def __init__(
        self,
        codec: Codec,
        randomness: Randomness,
        *,
        discount: float,
        warm_up: int,
        success_threshold: float,
        bootstrap_terminal: bool = False,
    ) -> None:
        self._codec, self._randomness, self._discount = codec, randomness, discount
        self._warm_up, self._threshold = warm_up, success_threshold
        self._bootstrap_terminal = bootstrap_terminal
        self._experience = 0
        self._table: dict[str, np.ndarray] = {}

    def act(self, obs: Obs) -> Decision:
        """The best action of the table, or a random one early on."""
        if self._randomness.acts_at_random(self._experience, self._warm_up):
            return self._randomness.any_action(len(self._codec.actions))
        return self._randomness.among_best(tuple(self._values(obs).tolist()))

    def observe(self, step: Transition) -> None:
        """One update."""
        target = step.reward
        if not step.terminal or self._bootstrap_terminal:
            target += self._discount * float(self._values(step.next_obs).max())
        self._values(step.obs)[step.action] = target

    def end_episode(self, episode: Episode) -> None:
        """Count the experience."""
        self._experience += sum(step.reward for step in episode) >= self._threshold

    def _values(self, obs: Obs) -> np.ndarray:
        key = self._codec.obs(obs, hint=False)
        return self._table.setdefault(key, np.full(len(self._codec.actions), self.INITIAL))
