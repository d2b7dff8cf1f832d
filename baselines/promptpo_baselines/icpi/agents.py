"""The agents: ICPI itself and its baselines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from promptpo_baselines.icpi.model import Tally
from promptpo_baselines.icpi.prompts import Question
from promptpo_baselines.icpi.rollout import best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo_baselines.icpi.memory import Episode, Memory
    from promptpo_baselines.icpi.model import InContextModel
    from promptpo_baselines.icpi.rollout import Imagination
    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.icpi.values import Obs, Transition
    from promptpo_baselines.icpi_flags import Profile

WARM_UP = 3
"""Number of episodes after which the model makes half of the decisions."""


def own_choice_probability(experience: int) -> float:
    """Return how often an agent with this many episodes of experience decides for itself; otherwise it acts at random."""
    return 1.0 / (1.0 + math.exp(2.0 * (WARM_UP - experience)))


@dataclass
class Randomness:
    """Separate streams, so that one kind of draw does not shift the others.

    Attributes:
        warm_up: Decides whether to act at random, and how.
        ties: Chooses among equally good actions.
    """

    warm_up: np.random.Generator
    ties: np.random.Generator

    def acts_at_random(self, experience: int) -> bool:
        """Whether the next action is drawn at random."""
        return bool(self.warm_up.random() >= own_choice_probability(experience))

    def among_best(self, values: Sequence[float]) -> int:
        """Return the best action, drawn uniformly from equally good ones."""
        tied = best(values)
        return tied[int(self.ties.integers(len(tied)))]


class Agent:
    """Acts uniformly at random and learns nothing; the base of all agents.

    Args:
        setting: The setting that it acts in.
        randomness: Source of the draws.
        model: The in-context model to keep up to date; None for agents without one.

    Attributes:
        tally: Calls and invalid answers.
    """

    def __init__(self, setting: Setting, randomness: Randomness, model: InContextModel | None = None) -> None:
        self._setting, self._codec, self._randomness = setting, setting.codec, randomness
        self._model = model
        self.tally = model.tally if model else Tally()

    def begin_episode(self) -> None:
        """Begin an episode, for which frozen examples are drawn anew."""
        if self._model is not None:
            self._model.builder.begin_episode()

    def act(self, obs: Obs) -> int:
        """Choose an action."""
        del obs
        return self._any_action()

    def observe(self, step: Transition) -> None:
        """Learn from one step; not called in test episodes."""

    def end_episode(self, episode: Episode) -> None:
        """Learn from a finished episode; not called in test episodes."""

    def _any_action(self) -> int:
        return int(self._randomness.warm_up.integers(self._setting.n_actions))


class PlanningAgent(Agent):
    """ICPI: one imagined rollout per action, then the action whose return is largest.

    With a `MatchingModel` in place of the language model, it is the paper's Matching Model baseline.

    Args:
        setting: The setting that it acts in.
        randomness: Source of warm-up actions and ties.
        memory: Its experience.
        imagination: Imagines rollouts.
        profile: Number of latest episodes that count, and whether a language model sees hints.
        model: See `Agent`.
    """

    def __init__(
        self,
        setting: Setting,
        randomness: Randomness,
        memory: Memory,
        imagination: Imagination,
        profile: Profile,
        model: InContextModel | None = None,
    ) -> None:
        super().__init__(setting, randomness, model)
        self._memory, self._imagination, self._context = memory, imagination, profile.context
        self._hint = model is not None and profile.hint

    def act(self, obs: Obs) -> int:
        """Plan, or act at random while there is little to plan from."""
        at_random = self._randomness.acts_at_random(min(self._memory.episodes, self._context))
        if at_random or not self._memory.ready(self._setting.n_actions):
            return self._any_action()
        if self._model is not None:
            self._model.builder.begin_decision()
        return self._randomness.among_best(self._imagination.values(self._codec.obs(obs, hint=self._hint)))

    def end_episode(self, episode: Episode) -> None:
        """Remember the episode."""
        self._memory.add_episode(episode)
        if self._model is not None:
            self._model.book.add_episode(episode)


class NoArgMaxAgent(Agent):
    """Follows the policy prompt, which shows only pieces of successful trajectories.

    Args:
        setting: The setting that it acts in, and the return that counts as success.
        randomness: Source of warm-up actions, and of actions in place of invalid answers.
        profile: Number of latest successful episodes that count, and whether state lines have hints.
        model: The policy.
    """

    def __init__(
        self, setting: Setting, randomness: Randomness, profile: Profile, model: InContextModel
    ) -> None:
        super().__init__(setting, randomness, model)
        self._profile, self._asked = profile, model
        self._successes = 0

    def act(self, obs: Obs) -> int:
        """Imitate what succeeded, or act at random while little has."""
        at_random = self._randomness.acts_at_random(min(self._successes, self._profile.context))
        if at_random or not self._asked.book.pool("policy").texts:
            return self._any_action()
        (answer,) = self._asked.ask([Question("policy", self._codec.obs(obs, hint=self._profile.hint))])
        action = None if answer is None else self._codec.parse_action(answer)
        return self._any_action() if action is None else action

    def end_episode(self, episode: Episode) -> None:
        """Remember a successful episode."""
        if sum(step.reward for step in episode) > self._setting.rules.success_threshold:
            self._successes += 1
            self._asked.book.add_episode(episode)


class TabularQAgent(Agent):
    """Q-learning with learning rate 1 and optimistic initial values; states are identified by their text without hints.

    Args:
        setting: The setting that it acts in; episodes whose return reaches its threshold count as experience.
        randomness: Source of warm-up actions and ties.
        bootstrap_terminal: Add the value of the state after a terminal step, as the paper's released
            code does; its curve on mini-catch is reproduced only with it.
    """

    INITIAL = 1.0

    def __init__(self, setting: Setting, randomness: Randomness, *, bootstrap_terminal: bool = False) -> None:
        super().__init__(setting, randomness)
        self._bootstrap_terminal = bootstrap_terminal
        self._experience = 0
        self._table: dict[str, np.ndarray] = {}

    def act(self, obs: Obs) -> int:
        """Return the best action of the table, or a random one early on."""
        if self._randomness.acts_at_random(self._experience):
            return self._any_action()
        return self._randomness.among_best(self._values(obs).tolist())

    def observe(self, step: Transition) -> None:
        """Update the table."""
        target = step.reward
        if not step.terminal or self._bootstrap_terminal:
            target += self._setting.gamma_plan * float(self._values(step.next_obs).max())
        self._values(step.obs)[step.action] = target

    def end_episode(self, episode: Episode) -> None:
        """Count the experience."""
        self._experience += sum(step.reward for step in episode) >= self._setting.rules.success_threshold

    def _values(self, obs: Obs) -> np.ndarray:
        key = self._codec.obs(obs, hint=False)
        return self._table.setdefault(key, np.full(self._setting.n_actions, self.INITIAL))
