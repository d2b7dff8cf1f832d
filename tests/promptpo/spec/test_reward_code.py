"""Rewards cut out of the source: what is shown computes the real reward, and nothing else is shown."""

import ast
import math
import types
from typing import Any

import numpy as np
import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.reward_code import _passes_reward_on, resolved, reward_code
from tests.promptpo.envs.test_building import needs
from tests.promptpo.spec.envs import HERE


def shown(env_id: Any, **kwargs: Any) -> Any:
    """The functions shown for an environment that has been reset."""
    env = make_env(Task(env_id, kwargs))
    env.reset(seed=0)
    return env, reward_code(env, max_chars=10_000)


def compiled(code: Any, env: Any, **names: Any) -> Any:
    """The shown reward as a function; our own text about packages that we trust, in a test."""
    scope = {"np": np, "math": math, "env": env.unwrapped, **names}
    exec("\n\n".join(code.functions), scope)  # noqa: S102
    return scope["reward"]


def test_a_list_that_grows_is_no_constant() -> None:
    """What ``append`` and ``clear`` change is part of the reward, not an empty list written out."""
    env, code = shown(f"{HERE}:Mine/Chores-v0")
    reward = compiled(code, env)
    rewards = set()
    for _ in range(20):
        observation, real, *_ = env.step(np.zeros(7, np.float32))
        assert reward(None, observation) == real
        rewards.add(real)
    assert len(rewards) > 1


def test_weights_in_a_table_are_those_that_are_looked_up() -> None:
    """By index or by ``get``, whatever they are called; a function and its result of one name are told apart."""
    env, code = shown(f"{HERE}:Mine/Tank-v0")
    reward = compiled(code, env)
    for heat in (0.0, 0.5, -1.0):
        action = np.array([heat], np.float32)
        _, real, *_ = env.step(action)
        assert reward(action) == pytest.approx(real)


PASSING = [
    ("return super().step(action)", True),
    ("o, r, e, t, i = super().step(action)\n    self.n += 1\n    return o, r, e, t, i", True),
    ("o, r, e, t, i = super().step(action)\n    r += 1\n    return o, r, e, t, i", False),
    ("o, r, e, t, i = super().step(action)\n    return o, r - 0.1, e, t, i", False),
    ("return self.o, self.r, False, False, {}", False),
]


@pytest.mark.parametrize(("body", "passes"), PASSING)
def test_a_step_that_passes_the_reward_on_is_passed_over(body: Any, passes: Any) -> None:
    """What a parent's step computes is the reward only where nothing is done to it afterwards."""
    (step,) = ast.parse(f"def step(self, action):\n    {body}").body
    assert _passes_reward_on(step) is passes


@needs("highway_env")
def test_shown_reward_is_the_real_one_at_an_intersection() -> None:
    """Its step only adds vehicles to that of its parent, which computes the reward."""
    env, code = shown("highway_env:intersection-v2")
    lmap = lambda v, x, y: y[0] + (v - x[0]) * (y[1] - y[0]) / (x[1] - x[0])  # noqa: E731
    reward = compiled(code, env, lmap=lmap)
    for _ in range(3):
        real = env.step(2)[1]
        assert reward(2) == pytest.approx(real)


@needs("mujoco")
@pytest.mark.parametrize("env_id", ["Reacher-v5", "Pusher-v5", "InvertedDoublePendulum-v5"])
def test_shown_reward_is_the_real_one_in_mujoco(env_id: str) -> None:
    """Evaluated after a step, the shown code gives the reward of that step."""
    env, code = shown(env_id)
    reward = compiled(code, env)
    env.action_space.seed(0)
    for _ in range(5):
        action = env.action_space.sample()
        real = env.step(action)[1]
        assert reward(action) == pytest.approx(real, rel=1e-6)


@needs("gymnasium_robotics")
def test_shown_reward_is_the_real_one_in_a_maze() -> None:
    """The maze's threshold is the code's, not the documentation's."""
    env, code = shown("PointMaze_UMaze-v3")
    reward = compiled(code, env, info={})
    action = np.ones(2, np.float32)
    observation, real, *_ = env.step(action)
    assert reward(action, observation) == real
    assert "0.45" in "".join(code.functions)


def test_shown_reward_is_the_real_one_in_pendulum() -> None:
    """The pendulum's cost is that of the state before the step and the clipped torque."""
    env, code = shown("Pendulum-v1")
    reward = compiled(code, types.SimpleNamespace(unwrapped=types.SimpleNamespace(state=env.unwrapped.state)))
    assert env.step(np.array([3.0], np.float32))[1] == pytest.approx(reward(np.array([3.0])), rel=1e-6)


@needs("mujoco")
def test_prose_has_the_values_of_this_instance_and_no_others() -> None:
    """Neither defaults that do not hold, nor a condition that does; what has no value here stays as it is."""
    values = {"ends_when_low": True, "low_range": (0.2, 1.0)}
    text = "If ends_when_low is True, the episode ends below low_range (default is [0.5, 2.0]) or above top_range (default 3)."
    assert resolved(text, values).splitlines() == [
        "The episode ends below low_range or above top_range (default 3).",
        "low_range = (0.2, 1.0)",
    ]


def test_constants_are_those_of_the_instance() -> None:
    """A weight given as a keyword argument shows in the code."""
    _, code = shown("HalfCheetah-v5", ctrl_cost_weight=0.25)
    assert "0.25 * np.sum(np.square(action))" in "".join(code.functions)


def test_branches_that_cannot_run_are_left_out() -> None:
    """A switch that is off takes its branch along."""
    on = "".join(shown("CartPole-v1", sutton_barto_reward=True)[1].functions)
    off = "".join(shown("CartPole-v1")[1].functions)
    assert "-1.0" in on
    assert "-1.0" not in off
    assert "_sutton_barto_reward" not in on + off


@needs("Box2D")
def test_flags_that_change_are_not_taken_for_constants() -> None:
    """``game_over`` is False at first; the penalty that hangs on it stays."""
    text = "".join(shown("LunarLander-v3")[1].functions)
    assert "if env.game_over or abs(next_obs[0]) >= 1.0:" in text
    assert "reward = -100" in text


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "Taxi-v4", "CliffWalking-v1"])
def test_a_reward_that_hangs_on_the_dynamics_is_not_shown(env_id: str) -> None:
    """Where the reward comes out of the transition table there is no code to show."""
    assert shown(env_id)[1] is None


@needs("metaworld")
def test_the_caging_reward_is_shown_without_its_unused_branches() -> None:
    """Meta-World's older reward, kept in the same method, does not appear."""
    text = "".join(shown("pick-place-v3")[1].functions)
    assert "_gripper_caging_reward" in text
    assert "placeRew" not in text
