"""User-written environments for the spec tests."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces


class Thermostat(gymnasium.Env):
    """Keep a room near 21 degrees."""

    weight = 0.1

    def __init__(self, comfort: float = 21.0) -> None:
        self.comfort = comfort
        self.observation_space = spaces.Dict(
            {"temperature": spaces.Box(-20.0, 50.0, (1,)), "window": spaces.Discrete(2)}
        )
        self.action_space = spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.temperature = self.np_random.uniform(10, 15)
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        heat = float(action[0])
        self.temperature += 0.5 * heat - 0.05
        reward = -abs(self.temperature - self.comfort) - self.weight * heat**2
        return self._observation(), reward, False, False, {"success": abs(self.temperature - 21) < 1}

    def _observation(self) -> Any:
        return {"temperature": np.array([self.temperature], np.float32), "window": 0}


class Chores(gymnasium.Env):
    """Do what the goals ask for."""

    def __init__(self) -> None:
        goals = spaces.Dict({"door": spaces.Box(-1.0, 1.0, (1,)), "pot": spaces.Box(-1.0, 1.0, (3,))})
        self.observation_space = spaces.Dict({"desired_goal": goals, "achieved_goal": goals})
        self.action_space = spaces.Box(-1.0, 1.0, (7,))
        self.done = []

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        observation = self.observation_space.sample()
        return observation, self._reward(observation), False, False, {}

    def _reward(self, observation: Any) -> Any:
        self.done.clear()
        for task, goal in observation["desired_goal"].items():
            if np.abs(observation["achieved_goal"][task] - goal).max() < 0.5:
                self.done.append(task)
        return float(len(self.done))


class Tank(Thermostat):
    """Keep a tank warm, by a table of weights whose names say nothing of rewards."""

    weights: ClassVar = {"error": 2.0, "pump": 0.5}

    def error(self) -> float:
        """How far it is from what it should be."""
        return abs(self.temperature - self.comfort)

    def step(self, action: Any) -> Any:
        heat = float(action[0])
        self.temperature += 0.5 * heat - 0.05
        error = self.error()
        reward = -self.weights["error"] * error - self.weights.get("pump", 0.0) * heat**2
        return self._observation(), reward, False, False, {}


class Silent(gymnasium.Env):  # noqa: D101 - an undocumented environment is what it is for
    observation_space = spaces.Box(-1.0, 1.0, (3,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(3, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(3, np.float32), 0.0, False, False, {}


class Forgetful(Silent):
    """Ignores its seed."""

    def step(self, action: Any) -> Any:
        return np.random.default_rng().uniform(-1, 1, 3).astype(np.float32), 0.0, False, False, {}


class Nested(Silent):
    """Has whatever spaces it is given."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        gymnasium.Env.reset(self, seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        return self.observation_space.sample(), 0.0, True, False, {}


class Broken(Silent):
    """Cannot be built."""

    def __init__(self) -> None:
        raise RuntimeError("no licence server\nsecond line")


class Graphs(Silent):
    """Has a space that no policy can be written for."""

    observation_space = spaces.Graph(spaces.Box(-1, 1, (2,)), None)  # type: ignore[assignment]


for name, cls in (
    ("Thermostat", Thermostat),
    ("Chores", Chores),
    ("Tank", Tank),
    ("Silent", Silent),
    ("Forgetful", Forgetful),
    ("Broken", Broken),
):
    gymnasium.register(f"Mine/{name}-v0", cls, max_episode_steps=40)
gymnasium.register("Mine/Graphs-v0", Graphs)

HERE = "tests.promptpo.spec.envs"
