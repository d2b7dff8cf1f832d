"""Export a simulator as a file with a Gymnasium environment and a vectorised one, which needs only numpy and gymnasium."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.program.reference_policies import array_expression
from promptpo.simulator.contract import Simulation
from promptpo_sandbox.guest import mechanism

_IMPORT = re.compile(r"^(?:from mechanism import Mechanism|import mechanism)[ \t]*$", re.MULTILINE)

_IMPORTS = """import re
import sys
from typing import Any

import mujoco.rollout
import numpy as np
"""

_WARNING = """# Simulator of {env_id!r}, written by a model or found by search. It passed promptpo's static gate, which is not a sandbox: imported or
# run, it is not confined.

"""

_WRAPPER_IMPORTS = """

import gymnasium as _gymnasium
import numpy as _np
from gymnasium import spaces as _spaces
from gymnasium.vector import AutoresetMode as _AutoresetMode
from gymnasium.vector import VectorEnv as _VectorEnv
from gymnasium.vector.utils import batch_space as _batch_space
"""

_IMPORTED = re.compile(r"(?<![\w.])(?=(?:gymnasium|np|spaces|AutoresetMode|VectorEnv|batch_space)\b)")
"""Imported names in the code below, which get an underscore: the simulator's module may use them otherwise."""

_WRAPPERS = '''
OBSERVATION_SPACE = {observation}
ACTION_SPACE = {action}
MAX_EPISODE_STEPS = {horizon}
NUMBERS = {numbers}


def replace_lanes(old, new, lanes):
    """Put some lanes of new arrays into old ones, by name; arrays that hold no lanes are the same in both."""
    for name, value in list(old.items()):
        other = new.get(name)
        if isinstance(value, np.ndarray) and value.ndim and len(value) == len(lanes) and value.shape == np.shape(other):
            old[name] = np.where(lanes.reshape(-1, *[1] * (value.ndim - 1)), other, value)
        elif isinstance(value, dict) and isinstance(other, dict):
            replace_lanes(value, other, lanes)


class SimulatedVectorEnv(VectorEnv):
    """Copies of the simulated task side by side; a copy whose episode is over begins anew in the same step."""

    metadata = {{"autoreset_mode": AutoresetMode.SAME_STEP}}

    def __init__(self, num_envs=1):
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = OBSERVATION_SPACE, ACTION_SPACE
        self.observation_space = batch_space(OBSERVATION_SPACE, num_envs)
        self.action_space = batch_space(ACTION_SPACE, num_envs)
        self.simulator = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.simulator, obs = self._begin()
        self.steps = np.zeros(self.num_envs, int)
        return obs, {{}}

    def step(self, actions):
        actions = np.asarray(actions)
        if isinstance(ACTION_SPACE, spaces.Box):
            actions = np.clip(actions, ACTION_SPACE.low, ACTION_SPACE.high)
        obs, reward, terminated = self.simulator.step(actions)
        n = self.num_envs
        obs, terminated = self._typed(obs), np.broadcast_to(terminated, (n,)).astype(bool)
        self.steps += 1
        truncated = ~terminated & (self.steps >= MAX_EPISODE_STEPS)
        over, info = terminated | truncated, {{}}
        if over.any():
            final = np.full(n, None, object)
            for lane in np.flatnonzero(over):
                final[lane] = obs[lane]
            info = {{"final_obs": final, "_final_obs": over}}
            other, fresh = self._begin()
            replace_lanes(vars(self.simulator), vars(other), over)
            obs = np.where(over.reshape(-1, *[1] * (obs.ndim - 1)), fresh, obs)
            self.steps[over] = 0
        return obs, np.broadcast_to(reward, (n,)).astype(float), terminated, truncated, info

    def _begin(self):
        simulator = Simulator(NUMBERS, np.random.default_rng(self.np_random.integers(2**63)))
        return simulator, self._typed(simulator.reset(self.num_envs))

    def _typed(self, rows):
        return np.array(rows, OBSERVATION_SPACE.dtype).reshape(self.num_envs, *OBSERVATION_SPACE.shape)


class SimulatedEnv(gymnasium.Env):
    """The simulated task."""

    observation_space, action_space = OBSERVATION_SPACE, ACTION_SPACE

    def __init__(self):
        self.simulator = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if self.simulator is None or seed is not None:
            self.simulator = Simulator(NUMBERS, np.random.default_rng(self.np_random.integers(2**63)))
        self.steps = 0
        return self._typed(self.simulator.reset(1)), {{}}

    def step(self, action):
        action = np.asarray(action)
        if isinstance(ACTION_SPACE, spaces.Box):
            action = np.clip(action, ACTION_SPACE.low, ACTION_SPACE.high)
        obs, reward, terminated = self.simulator.step(action[None])
        self.steps += 1
        over = bool(np.ravel(terminated)[0])
        late = not over and self.steps >= MAX_EPISODE_STEPS
        return self._typed(obs), float(np.ravel(reward)[0]), over, late, {{}}

    def _typed(self, obs):
        row = np.asarray(obs)[0]
        return int(row) if isinstance(OBSERVATION_SPACE, spaces.Discrete) else row.astype(OBSERVATION_SPACE.dtype)


gymnasium.register({env_id!r}, entry_point=SimulatedEnv, vector_entry_point=SimulatedVectorEnv)
'''


def environment_file(simulation: Simulation, env_id: str) -> str:
    """Return a module that registers the simulator as a Gymnasium environment, plain and vectorised.

    Args:
        simulation: The simulator; its first vector is used.
        env_id: The id to register.
    """
    program = simulation.program
    wrappers = _WRAPPER_IMPORTS + _IMPORTED.sub("_", _WRAPPERS).format(
        observation=_IMPORTED.sub("_", space_expression(simulation.observation_space)),
        action=_IMPORTED.sub("_", space_expression(simulation.action_space)),
        horizon=simulation.horizon,
        numbers=program.constructor_argument().replace("np.array(", "_np.array(")
        if simulation.vectors
        else "{}",
        env_id=env_id,
    )
    own = (f"{name} = 0\n" for name in (*_LIMITS, "re", "sys", "Any", "mujoco"))
    source = program.beside("".join(own) + wrappers).source
    return f"{_WARNING.format(env_id=env_id)}{_inline_mechanism(source).rstrip()}\n{wrappers}"


_LIMITS = ("MODULE", "MAX_XML_BYTES", "MAX_SUBSTEPS", "MAX_DEGREES", "OUTSIDE")
"""Module constants that the class `Mechanism` reads."""


def _inline_mechanism(source: str) -> str:
    """Replace an import of `Mechanism` in a module, if there is one, by the class itself."""
    if not _IMPORT.search(source):
        return source
    constants = "\n".join(f"{name} = {getattr(mechanism, name)!r}" for name in _LIMITS)
    text = f"{_IMPORTS}\n{constants}\n\n\n{inspect.getsource(mechanism.Mechanism)}"
    text = _IMPORTED.sub("_", text)
    source = _IMPORT.sub(lambda _: text, source, count=1)
    return re.sub(r"\bmechanism\.Mechanism\b", "Mechanism", source)


def space_expression(space: Any) -> str:
    """Return a Python expression for a space, in terms of ``np`` and ``spaces``."""
    if isinstance(space, spaces.Discrete):
        return f"spaces.Discrete({int(space.n)}, start={int(space.start)})"
    kind, shape = f"np.{np.dtype(space.dtype).name}", tuple(space.shape)
    if isinstance(space, spaces.MultiBinary):
        return f"spaces.MultiBinary({list(shape)})"
    if isinstance(space, spaces.MultiDiscrete):
        start = np.asarray(space.start).tolist()
        return f"spaces.MultiDiscrete({np.asarray(space.nvec).tolist()}, dtype={kind}, start={start})"
    low, high = map(array_expression, (space.low, space.high))
    return f"spaces.Box({low}, {high}, dtype={kind}, shape={shape})"
