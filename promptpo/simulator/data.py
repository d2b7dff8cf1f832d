"""Real steps that simulators are fitted to: the policy that plays them, and windows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gymnasium import spaces

from promptpo.program.reference_policies import array_expression, draw_expression
from promptpo.simulator.contract import Space
from promptpo.simulator.network_source import span
from promptpo_sandbox import Recorded, Rollout
from promptpo_sandbox.simulators import Array, record_episode

STEPS_AHEAD = (1, 5, 25)
"""Numbers of steps ahead at which predictions are compared."""

FIRST_STEPS = 3
"""Steps at the beginning of an episode in which a body may settle from its initial position."""

HELD_OUT_OF = 4
"""One of this many episodes is held out of the fit; none if there is only one."""

_HELD_RANDOM = '''"""Random actions, held for a few steps, at several scales."""
import numpy as np


class Policy:
    def __init__(self):
        self.rng = np.random.default_rng()
        self.left, self.action = 0, None

    def act(self, obs):
        if self.left == 0:
            self.left = int(self.rng.choice([1, 3, 8]))
            self.action = {draw}
        self.left -= 1
        return self.action
'''


def held_random_policy(action_space: Space) -> str:
    """Return the source of a policy of random actions, each held for 1, 3 or 8 steps and, in a box, at one of three scales."""
    draw = draw_expression(action_space)
    if isinstance(action_space, spaces.Box):
        middle = array_expression(span(action_space)[0].reshape(action_space.shape))
        draw = f"({middle} + self.rng.choice([0.3, 0.6, 1.0]) * ({draw} - {middle})).astype('{action_space.dtype}')"
    return _HELD_RANDOM.replace("{draw}", draw)


def record_episodes(rollout: Rollout, observation_space: Space, action_space: Space) -> tuple[Recorded, ...]:
    """Return the episodes of a rollout whose trajectories fit the spaces."""
    found = [record_episode(observation_space, action_space, episode) for episode in rollout.episodes]
    return tuple(episode for episode in found if episode is not None)


def initial_observations(episodes: Sequence[Recorded]) -> Array:
    """Return the initial observations of real episodes, one row each."""
    return np.stack([episode.observations[0] for episode in episodes])


@dataclass(frozen=True, slots=True)
class Windows:
    """W windows of H real steps, padded after the end of an episode.

    Attributes:
        starts: Observations at the beginning, of shape (W, …).
        actions: Actions, of shape (H, W, …).
        seen: Observations after each step, of shape (H, W, …); the last one is repeated as padding.
        rewards: Rewards, of shape (H, W); padded with 0.
        ended: Whether the episode had terminated by then, of shape (H, W).
        valid: Whether the step is real rather than padding, of shape (H, W).
        first: Whether a window begins in an episode's first steps, of shape (W,).
    """

    starts: Array
    actions: Array
    seen: Array
    rewards: Array
    ended: Array
    valid: Array
    first: Array

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: Array) -> Windows:
        """Return the windows at these indices or under this mask."""
        later = (self.actions, self.seen, self.rewards, self.ended, self.valid)
        actions, seen, rewards, ended, valid = (part[:, rows] for part in later)
        return Windows(self.starts[rows], actions, seen, rewards, ended, valid, self.first[rows])


def cut_windows(episodes: Sequence[Recorded]) -> Windows:
    """Return the windows that begin at each real step, of the longest length in `STEPS_AHEAD`."""
    rows, ahead = [], np.arange(max(STEPS_AHEAD))[:, None]
    for episode in episodes:
        length = len(episode)
        at = np.arange(length) + ahead
        valid, inside = at < length, np.minimum(at, length - 1)
        rows.append(
            (
                episode.observations[:-1],
                episode.actions[inside],
                episode.observations[inside + 1],
                np.where(valid, episode.rewards[inside], 0.0),
                (at >= length - 1) & episode.terminated,
                valid,
                np.arange(length) < FIRST_STEPS,
            )
        )
    columns = zip(zip(*rows, strict=True), (0, 1, 1, 1, 1, 1, 0), strict=True)
    return Windows(*(np.concatenate(parts, axis=axis) for parts, axis in columns))


def split_episodes(episodes: Sequence[Recorded]) -> tuple[tuple[Recorded, ...], tuple[Recorded, ...]]:
    """Return the episodes to fit and the held-out episodes; all of them are both if there is only one."""
    held = episodes[1::HELD_OUT_OF] or episodes
    fitted = [episode for n, episode in enumerate(episodes) if n % HELD_OUT_OF != 1]
    return tuple(fitted), tuple(held)


def clip_edges(seen: Array) -> Array:
    """Return the extremes of each coordinate, of shape (2, D), where repeated values suggest clipping; NaN elsewhere."""
    columns = seen.reshape(len(seen), -1).astype(float)
    edges = np.stack([columns.min(axis=0), columns.max(axis=0)])
    count = (columns == edges[:, None]).sum(axis=1)
    distinct = np.array([len(np.unique(column)) for column in columns.T]) > 0.2 * len(columns)
    return np.where((count > 2) & distinct, edges, np.nan)  # noqa: PLR2004 - an unclipped extreme hardly occurs more often
