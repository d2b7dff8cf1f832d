"""Training that begins in a run's simulator, where steps are free, and continues in the real environment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvWrapper

from promptpo.errors import NoSuchRunError
from promptpo.output.run_view import read_view
from promptpo.output.simulated import simulator_of
from promptpo.simulator.contract import Simulation
from promptpo_baselines.environments import AnyEnv, make_playable
from promptpo_sandbox import Limits, Sandbox

if TYPE_CHECKING:
    from promptpo.envs.task import Task

SEEN = "seen"
"""Key in ``info`` of the observation that programs receive."""


def simulation_of(run: Path, task: Task) -> Simulation:
    """Load the simulator of a run for a task.

    Raises:
        RunError: It has none.
    """
    view = read_view(run)
    version = simulator_of(view.state)
    if version is None:
        raise NoSuchRunError(
            f"{run} has no simulator to learn in; create a run that has one with: promptpo optimize … --simulate"
        )
    env: AnyEnv = make_playable(task)
    try:
        found = env.observation_space, env.action_space
    finally:
        env.close()
    horizon = int((view.content.get("preflight") or {}).get("horizon") or 1000)
    return replace(Simulation.of(version.source, *found, horizon), vectors=version.vectors)


# ruff: noqa: ARG002 - stable-baselines3 calls these with arguments


class SimulatedEnvs(VecEnv):
    """Lanes of a simulator, in the sandbox, as vectorised environments.

    Args:
        simulation: The simulator.
        like: The real environments, whose spaces and number it has.
        seed: Seed of its random numbers.
    """

    def __init__(self, simulation: Simulation, like: VecEnv, seed: int) -> None:
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        self._horizon, self._actions = simulation.horizon, simulation.action_space
        self._box = Sandbox(Limits())
        self._opened = simulation.open(self._box, seed)
        self._guest = self._opened.__enter__()
        self._chosen: Any = None

    def _flat(self, rows: Any) -> Any:
        shape = self.observation_space.shape or ()
        return np.asarray(rows).reshape(len(rows), *shape).astype(self.observation_space.dtype)

    def reset(self) -> Any:
        """Start all lanes."""
        rows = self._guest.start(self.num_envs, self._horizon)
        self.reset_infos = [{SEEN: row} for row in rows]
        return self._flat(rows)

    def step_async(self, actions: Any) -> None:
        """Store the actions."""
        space = self._actions
        bounded = isinstance(space, spaces.Box)
        self._chosen = np.clip(actions, space.low, space.high) if bounded else np.asarray(actions)  # type: ignore[attr-defined]

    def step_wait(self) -> Any:
        """Step all lanes; those whose episodes end restart."""
        before, after, rewards, terminated, truncated = self._guest.advance(self._chosen)
        infos: list[dict[str, Any]] = [{SEEN: row} for row in before]
        ended, last = terminated | truncated, self._flat(before)
        for lane in np.flatnonzero(ended):
            infos[lane]["terminal_observation"] = last[lane]
            infos[lane]["TimeLimit.truncated"] = bool(truncated[lane] and not terminated[lane])
            self.reset_infos[lane] = {SEEN: after[lane]}
        return self._flat(after), rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """End the sandbox."""
        self._opened.__exit__(None, None, None)
        self._box.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return None for every attribute."""
        return [None for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set nothing."""

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call nothing and return None for every environment."""
        return [None for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for every lane."""
        return [False for _ in self._get_indices(indices)]


class Switch(VecEnvWrapper):
    """Environments that can be replaced while an agent learns in them.

    Args:
        real: The real environments.
    """

    def __init__(self, real: VecEnv) -> None:
        super().__init__(real)
        self.real = real

    def use(self, envs: VecEnv) -> None:
        """Step these from now on; `reset` must be called next."""
        self.venv = envs

    def reset(self) -> Any:
        """Start episodes."""
        found = self.venv.reset()
        self.reset_infos = self.venv.reset_infos
        return found

    def step_wait(self) -> Any:
        """End a step."""
        found = self.venv.step_wait()
        self.reset_infos = self.venv.reset_infos
        return found


def bottom_of(envs: VecEnv) -> Switch:
    """Return the switch below all wrappers."""
    while not isinstance(envs, Switch):
        envs = envs.venv  # type: ignore[attr-defined]
    return envs


def learn_in_simulator(model: Any, envs: VecEnv, simulation: Simulation, *, steps: int, seed: int) -> None:
    """Train an agent in a simulator; its stored experience is then discarded, its networks are kept.

    Args:
        model: The agent.
        envs: Its environments, with a `Switch` below them.
        simulation: The simulator.
        steps: Simulated steps.
        seed: Seed of its random numbers.
    """
    switch = bottom_of(envs)
    simulated = SimulatedEnvs(simulation, switch.real, seed)
    switch.use(simulated)
    try:
        model.learn(steps)
    finally:
        switch.use(switch.real)
        simulated.close()
    model._last_obs = None  # noqa: SLF001 - SB3 has no public access; the next training resets the environments
    buffer = getattr(model, "replay_buffer", None)
    if buffer is not None:
        buffer.reset()
