"""An environment for each kind of space, and policies that verify their observations."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

OBSERVATIONS: dict[str, Any] = {
    "box": spaces.Box(-1.0, 1.0, (3,), np.float32),
    "scalar": spaces.Box(-1.0, 1.0, (), np.float32),
    "image": spaces.Box(0, 255, (4, 4, 3), np.uint8),
    "discrete": spaces.Discrete(5, start=2),
    "multidiscrete": spaces.MultiDiscrete([3, 4]),
    "multibinary": spaces.MultiBinary(4),
    "dict": spaces.Dict({"a": spaces.Box(-1.0, 1.0, (2,)), "n": spaces.Discrete(3)}),
    "tuple": spaces.Tuple([spaces.Box(-1.0, 1.0, (2,)), spaces.Discrete(3)]),
}
"""Observation spaces that stable-baselines3 can vectorise: all but Text and nested spaces."""

ACTIONS: dict[str, Any] = {
    "box": spaces.Box(-1.0, 1.0, (2,), np.float32),
    "unbounded": spaces.Box(-np.inf, np.inf, (1,), np.float32),
    "discrete": spaces.Discrete(5, start=1),
    "multidiscrete": spaces.MultiDiscrete([3, 4]),
    "multibinary": spaces.MultiBinary(4),
    "dict": spaces.Dict({"a": spaces.Box(-1.0, 1.0, (2,)), "n": spaces.Discrete(3)}),
    "tuple": spaces.Tuple([spaces.Box(-1.0, 1.0, (2,)), spaces.Discrete(3)]),
    "text": spaces.Text(5, charset="ab"),
}

FORM = """
    def form(self, obs):
        if isinstance(obs, dict):
            return "{" + ",".join(k + ":" + self.form(obs[k]) for k in sorted(obs)) + "}"
        if isinstance(obs, tuple):
            return "(" + ",".join(self.form(part) for part in obs) + ")"
        return type(obs).__name__ + str(getattr(obs, "shape", ""))
"""

RETURNED = {
    "box": "[3.0, 0.5]",
    "unbounded": "0.25",
    "discrete": "np.array([2.0])",
    "multidiscrete": "[1, 2]",
    "multibinary": "[0, 1, 1, 0]",
    "dict": "{'a': np.array([0.5, 0.5], np.float32), 'n': 1}",
    "tuple": "(np.array([0.5, 0.5], np.float32), 1)",
    "text": "'ab'",
}
"""Actions returned by policies; the sandbox converts some of them to the space's form."""

EXPECTED = {
    "box": "ndarray(3,)",
    "scalar": "ndarray()",
    "image": "ndarray(4, 4, 3)",
    "discrete": "int",
    "multidiscrete": "ndarray(2,)",
    "multibinary": "ndarray(4,)",
    "dict": "{a:ndarray(2,),n:int}",
    "tuple": "(ndarray(2,),int)",
}


def policy_for(observation: str, action: str) -> str:
    """Return a policy that fails if observations have the wrong form, and counts its steps."""
    return (
        "import numpy as np\n\n\nclass Policy:\n    def __init__(self):\n        self.steps = 0\n"
        f"{FORM}\n    def act(self, obs):\n        self.steps += 1\n"
        f"        if self.form(obs) != {EXPECTED[observation]!r} or self.steps > 3:\n"
        "            raise ValueError(self.form(obs) + str(self.steps))\n"
        f"        return {RETURNED[action]}\n"
    )


class Checked(gymnasium.Env):
    """Three steps with a reward of one for each action that is one of the action space."""

    def __init__(self, observation: str, action: str) -> None:
        self.observation_space, self.action_space = OBSERVATIONS[observation], ACTIONS[action]
        self.steps = 0

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        reward = float(self.action_space.contains(action))
        return self.observation_space.sample(), reward, self.steps == 3, False, {}


gymnasium.register("Checked-v0", Checked)


def evaluate_returns(policy: Any, observation: str, action: str, lanes: int) -> list[float]:
    """Return four episode returns from stable-baselines3's evaluation, single or vectorised."""
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import DummyVecEnv

    def make() -> Any:
        return Checked(observation, action)

    env = make() if lanes == 1 else DummyVecEnv([make] * lanes)
    returns, _ = evaluate_policy(policy, env, n_eval_episodes=4, return_episode_rewards=True, warn=False)
    return [float(value) for value in np.ravel(returns)]
