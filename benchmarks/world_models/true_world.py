"""The environment itself as a world model: what a planner earns where it cannot be wrong about anything."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from promptpo.world.planners import Planner, planning_policy

STAND_IN = '''class World:
    """Replaced by the environment."""

    def __init__(self, obs, rng):
        self.sync(obs)

    def sync(self, obs):
        self.obs = obs

    def step(self, action):
        return self.obs, 0.0, False
'''


class TruePlanner:
    """Plans with copies of an environment as it is at the moment, by the planner that policies are exported with.

    Chance is drawn anew in every copy, so that what will come is not foreseen; what is hidden in the environment's
    state, such as a card that lies face down, is.

    Args:
        env: The environment that is played; trusted code.
        kind: The planner.
        seed: Decides its random numbers.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], kind: Planner, seed: int = 0) -> None:
        source = planning_policy(STAND_IN, None, env.observation_space, env.action_space, planner=kind)
        module: dict[str, Any] = {"__name__": "planner"}
        exec(compile(source, "planner", "exec"), module)  # noqa: S102 - the project's own text
        self._env, self._spare = env, None
        if hasattr(env.unwrapped, "set_state"):  # MuJoCo's state lies outside Python
            self._spare = gymnasium.make(env.spec.id, **_options(env)) if env.spec else None
            if self._spare is not None:
                self._spare.reset(seed=0)
        module["World"] = self._copy
        self._make = module["Policy"]
        self._rng = np.random.default_rng(seed)
        self.reset()

    def reset(self) -> None:
        """Begin another episode."""
        self._policy = self._make()
        self._policy.rng = self._rng

    def act(self, obs: Any) -> Any:
        """The planned action."""
        return self._policy.act(obs)

    def _copy(self, _obs: Any, rng: np.random.Generator) -> _Copied:
        here: Any = self._env.unwrapped
        twin: Any
        if self._spare is None:
            twin = copy.copy(here)
            for name, value in vars(here).items():
                if isinstance(value, list | np.ndarray):
                    setattr(twin, name, value.copy())
        else:
            twin = self._spare.unwrapped
            twin.set_state(here.data.qpos.copy(), here.data.qvel.copy())
        twin.np_random = rng
        return _Copied(twin)


class _Copied:
    """One copy behind the contract of world models."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def step(self, action: Any) -> tuple[Any, float, bool]:
        """One step."""
        obs, reward, terminated, _, _ = self._env.step(action)
        return obs, float(reward), bool(terminated)


def _options(env: gymnasium.Env[Any, Any]) -> Mapping[str, Any]:
    return dict(env.spec.kwargs) if env.spec is not None else {}
