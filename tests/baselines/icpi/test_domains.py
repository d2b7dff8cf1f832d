"""The six domains: exact optima, difficulty for random actions, and Gymnasium interface."""

from functools import cache
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from promptpo_baselines.icpi.domains import DOMAINS, register
from promptpo_baselines.icpi.domains.maze import DISTANCES, GOAL, Maze

RNG = np.random.default_rng(0)

STARTS: dict[str, Any] = {
    "promptpo/Chain-v0": [(x,) for x in range(8)],
    "promptpo/DistractorChain-v0": [(x, 3) for x in range(8)],
    "promptpo/Maze-v0": [(i, j) for i in range(3) for j in range(3)],
    "promptpo/MiniCatch-v0": [(2, x, 4) for x in range(4)],
    "promptpo/MiniInvaders-v0": [
        (s, a, 5, b, 5) for s in range(4) for a in range(4) for b in range(4) if len({s, a, b}) == 3
    ],
    "promptpo/PointMass-v0": [
        (sign * distance, 0) for sign in (-1, 1) for distance in np.linspace(2.001, 5.999, 40)
    ],
}
"""All initial states; for point-mass, a fine grid."""

RANDOM_REGRET = {
    "promptpo/Chain-v0": 0.575,
    "promptpo/DistractorChain-v0": 0.576,
    "promptpo/Maze-v0": 0.414,
    "promptpo/MiniCatch-v0": 0.750,
    "promptpo/MiniInvaders-v0": 0.774,
    "promptpo/PointMass-v0": 0.386,
}
"""Regret of uniformly random actions: means over 200,000 episodes of an independent implementation of the rules."""


def best_return(domain: Any, start: Any) -> Any:
    """Compute the optimum over all sequences of actions within the time limit."""
    # Only the distractor is random, and it influences nothing.

    @cache
    def value(state: Any, left: Any) -> Any:
        if left == 0:
            return 0.0
        best = 0.0
        for action in range(domain.n_actions):
            after, reward, ended = domain.step(state, action, RNG)
            if len(after) == 2 and domain is DOMAINS["promptpo/DistractorChain-v0"]:
                after = (after[0], 0)
            best = max(best, reward + (0.0 if ended else domain.gamma_eval * value(after, left - 1)))
        return best

    return value(start, domain.time_limit or 8)


@pytest.mark.parametrize("env_id", DOMAINS)
def test_optimum_agrees_with_backward_induction(env_id: str) -> None:
    """This holds for every initial state."""
    domain = DOMAINS[env_id]
    for start in STARTS[env_id]:
        assert domain.optimal_return(start) == pytest.approx(best_return(domain, start), abs=1e-12), start


@pytest.mark.parametrize("env_id", DOMAINS)
def test_random_actions_have_the_known_regret(env_id: str) -> None:
    """One number per domain checks rewards, ends, initial states and time limits together."""
    domain, rng = DOMAINS[env_id], np.random.default_rng(1)
    regrets = []
    for _ in range(6000):
        start = state = domain.reset(rng)
        total, ended, steps = 0.0, False, 0
        while not ended and (domain.time_limit is None or steps < domain.time_limit):
            state, reward, ended = domain.step(state, int(rng.integers(domain.n_actions)), rng)
            total += domain.gamma_eval**steps * reward
            steps += 1
        regrets.append((domain.optimal_return(start) - total) / domain.regret_scale)
    assert np.mean(regrets) == pytest.approx(RANDOM_REGRET[env_id], abs=0.02)


@pytest.mark.parametrize("env_id", DOMAINS)
def test_domains_pass_gymnasiums_checker(env_id: str) -> None:
    """The same seed gives the same initial state."""
    register()
    env = gymnasium.make(env_id)
    check_env(env.unwrapped, skip_render_check=True)
    first, _ = env.reset(seed=5)
    again, _ = env.reset(seed=5)
    assert np.array_equal(first, again)
    limit = DOMAINS[env_id].time_limit
    assert env.spec is not None
    assert env.spec.max_episode_steps == limit
    env.close()


def test_episode_at_the_time_limit_is_truncated() -> None:
    """The agent walks against the wall of the chain for eight steps."""
    register()
    env = gymnasium.make("promptpo/Chain-v0")
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(8)]
    assert ends == [(False, False)] * 7 + [(False, True)]


def test_distances_in_the_maze_agree_with_a_search() -> None:
    """Breadth-first, with the walls of the rules."""
    maze = Maze()
    distances, border = {GOAL: 0}, [GOAL]
    while border:
        border = [
            cell
            for cell in DISTANCES
            if cell not in distances and any(maze.step(cell, a, RNG)[0] in border for a in range(4))
        ]
        distances |= dict.fromkeys(border, max(distances.values()) + 1)
    assert distances == DISTANCES


def test_alien_in_the_bottom_row_ends_the_game_unless_shot() -> None:
    """This is checked before the aliens descend."""
    domain = DOMAINS["promptpo/MiniInvaders-v0"]
    assert domain.step((1, 1, 0, 2, 0), 1, RNG)[1:] == (1.0, True)
    assert domain.step((1, 1, 0, -1, -1), 1, RNG)[1:] == (1.0, True)
    assert domain.step((0, 1, 0, -1, -1), 1, RNG)[1:] == (0.0, True)
    assert domain.step((0, 1, 1, -1, -1), 2, RNG) == ((1, 1, 0, -1, -1), 0.0, False)
