"""Environments in styles that promptpo was not written for: flags in arrays, plain docstrings, unusual names."""

import enum
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Lift(gymnasium.Env):
    """A lift in a building of eight floors.

    Observation: floor / 7, direction, and 8 flags for calls.

    Actions: 0 stay, 1 go up, 2 go down.

    Reward: minus the number of calls that wait.

    An episode lasts 150 steps.
    """

    observation_space = spaces.Box(
        np.array([0, -1, *[0] * 8], np.float32), np.array([1, 1, *[1] * 8], np.float32)
    )
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.floor, self.calls = 0, list(map(int, self.np_random.permutation(8)[:4]))
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self.floor = int(np.clip(self.floor + (0, 1, -1)[action], 0, 7))
        if self.floor in self.calls:
            self.calls.remove(self.floor)
        return self._observe(), -float(len(self.calls)), not self.calls, False, {}

    def _observe(self) -> Any:
        flags = np.isin(np.arange(8), self.calls)
        return np.array([self.floor / 7, 0, *flags], np.float32)


class Lamps(gymnasium.Env):
    """Switch all lamps on."""

    observation_space = spaces.MultiBinary(24)
    action_space = spaces.Discrete(24)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.l, self.t = self.np_random.integers(0, 2, 24).astype(np.int8), 0
        return self.l.copy(), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        before = self.l.sum()
        self.l[action] ^= 1
        gain = float(self.l.sum()) - float(before)
        return self.l.copy(), gain, False, self.t >= 60, {}


class Points(gymnasium.Env):
    """Two numbers are to be brought to two."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,))
    action_space = spaces.Box(-1, 1, (2,))

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.p = self.np_random.uniform(-5, 5, 2)
        return self.p.astype(np.float32), {}

    def step(self, action: Any) -> Any:
        """Move. The reward is minus the distance of the two numbers from 2."""
        self.p = self.p + 0.1 * np.asarray(action)
        return self.p.astype(np.float32), float(-abs(self.p - 2).sum()), False, False, {}


class Barn(gymnasium.Env):
    """Keep the hay dry."""

    observation_space = spaces.Dict(moisture=spaces.Box(0, 1, (4,), np.float32), wind=spaces.Discrete(3))
    action_space = spaces.MultiDiscrete([2, 3])

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.m, self.w = self.np_random.uniform(0.2, 0.5, 4), int(self.np_random.integers(3))
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        door, fans = int(action[0]), int(action[1])
        self.m = np.clip(self.m + 0.02 - (0.03 if door and self.w == 2 else 0) - 0.008 * fans, 0, 1)
        if self.np_random.random() < 0.1:
            self.w = int(self.np_random.integers(3))
        reward = 1.0 - float(self.m.mean()) - 0.1 * fans
        return self._observe(), reward, bool(self.m.max() > 0.95), False, {}

    def _observe(self) -> Any:
        return {"moisture": self.m.astype(np.float32), "wind": self.w}


class Silo(gymnasium.Env):
    """Fill the silo; how much comes is luck."""

    observation_space = spaces.Box(0, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x = self.np_random.uniform(0.1, 0.5, 2)
        return self.x.astype(np.float32), {}

    def step(self, action: Any) -> Any:
        gain = float(self.np_random.random()) * action
        self.x = np.clip(self.x + 0.1 * gain - 0.02, 0, 1)
        return self.x.astype(np.float32), gain, bool(self.x.min() < 0.05), False, {}


class Move(enum.IntEnum):
    """What a robot may do."""

    WAIT = 0
    DRIVE = 1


class Courier(gymnasium.Env):
    """A courier.

    Rewards:
        +1 for each parcel.
    """

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            mission=spaces.Text(40, charset="abcdefghijklmnopqrstuvwxyz "), room=spaces.Discrete(3)
        )
        self.action_space = spaces.Discrete(len(Move))

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.room = 0
        return {"mission": "bring the parcel", "room": 0}, {}

    def step(self, action: Any) -> Any:
        target = self.room + (action == Move.DRIVE)
        if target < 3:
            self.room = target
        return {"mission": "bring the parcel", "room": self.room}, float(target == 3), False, False, {}


class Plant(gymnasium.Env):
    """A plant with vents."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            {
                "alarms": spaces.MultiBinary(2),
                **{f"vent_{i}": spaces.Discrete(2) for i in range(3)},
                "room_7": spaces.Discrete(2),
            }
        )
        self.action_space = spaces.MultiDiscrete([3, 3])

    def _obs(self) -> Any:
        return {"alarms": np.zeros(2, np.int8), "vent_0": 0, "vent_1": 1, "vent_2": 0, "room_7": 0}

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        return self._obs(), float(action[0]), False, False, {}


class Depot(gymnasium.Env):
    """Send the truck away in time.

    Observation: [load, speed, due in]
    """

    observation_space = spaces.Box(-100, 100, (3,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.load, self.t, self.due = 0.0, 0, int(self.np_random.integers(10, 30))
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self.load += float(self.np_random.random()) * action
        self.t += 1
        reward = self.load if self.due - self.t > 0 else -1.0
        if self.t % 7 == 0:
            self.due += int(self.np_random.integers(5))
        return self._observe(), reward, self.t > self.due, False, {}

    def _observe(self) -> Any:
        return np.array([self.load, self.load % 3, self.due - self.t], np.float32)


class Sleeper(Points):
    """Never comes back from a step."""

    def step(self, action: Any) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:  # noqa: BLE001, S112 - what hangs may well catch everything
                continue


class Boiler(gymnasium.Env):
    """A boiler, whose end is said where it is returned."""

    observation_space = spaces.Box(0.0, 10.0, (2,))
    action_space = spaces.Box(-1.0, 1.0, (1,))

    def __init__(self) -> None:
        self.limit = 3.0
        self.h, self.t = np.ones(2), 0

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Start warm."""
        super().reset(seed=seed)
        self.h, self.t = np.ones(2), 0
        return self.h.astype(np.float32), {}

    def step(self, action: Any) -> Any:
        """Heat."""
        self.t += 1
        self.h = self.h + 0.1 * np.array([action[0], self.h[0] - self.h[1]])
        reward = -abs(self.h[1] - 2.0) - 0.01 * self.t
        return self.h.astype(np.float32), reward, self.h[0] > self.limit, False, {}


class Oven(Boiler):
    """An oven, whose end is computed by a method."""

    def step(self, action: Any) -> Any:
        """Heat."""
        self.h = self.h + 0.1 * np.array([action[0], self.h[0] - self.h[1]])
        reward = -abs(self.h[1] - 2.0)
        return self.h.astype(np.float32), reward, self._over(), self.t >= 200, {}

    def _over(self) -> bool:
        return bool(self.h.max() > 900)


class Kettle(Boiler):
    """A kettle, whose end stands under a condition.

    ## Episode End
    It ends when the water has been boiling for so long that nothing of it is left, which nobody has seen.
    """

    def step(self, action: Any) -> Any:
        """Heat."""
        self.h = self.h + 0.1 * np.array([action[0], self.h[0] - self.h[1]])
        reward, done = -abs(self.h[1] - 2.0), False
        if self.h[0] > self.limit:
            done = True
        return self.h.astype(np.float32), reward, done, False, {}


class Vessel(gymnasium.Env):
    """Keep a vessel's level at what two dials say.

    Observation:
        tank: level of the vessel
        dials: what they say,
            turned and shifted
        rest: what is left to fill
    """

    observation_space = spaces.Dict(
        {
            "tank": spaces.Box(-np.inf, np.inf, (1,)),
            "dials": spaces.Box(-np.inf, np.inf, (2,)),
            "rest": spaces.Box(-np.inf, np.inf, (2,)),
        }
    )
    action_space = spaces.Box(-1, 1, (1,))

    def __init__(self) -> None:
        self.states = ["level", "inflow"]

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.tank, self.dials = self.np_random.uniform(0, 4, 2), self.np_random.uniform(0, 4, 2)
        self.rest = self.np_random.uniform(0, 4, 2)
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        self.tank = self.tank + self.np_random.normal(action, 0.1, 2)
        self.dials = self.dials + self.np_random.normal(0, 0.1, 2)
        reward = -abs(self.tank[self.states.index("level")] - self.dials.sum())
        self.rest = self.rest + self.np_random.normal(0, 0.1, 2)
        reward -= abs(self.rest[1])
        self.rest = np.roll(self.rest, 1) + self.np_random.normal(0, 0.1, 2)
        return self._observe(), float(reward), False, False, {}

    def _observe(self) -> Any:
        dials = np.array([2 * self.dials[0] + 1, -self.dials[1]], np.float32)
        return {
            "tank": self.tank[:1].astype(np.float32),
            "dials": dials,
            "rest": self.rest.astype(np.float32),
        }


for name, cls in (
    ("Boiler", Boiler),
    ("Oven", Oven),
    ("Kettle", Kettle),
    ("Lift", Lift),
    ("Lamps", Lamps),
    ("Points", Points),
    ("Barn", Barn),
    ("Silo", Silo),
    ("Depot", Depot),
    ("Courier", Courier),
    ("Sleeper", Sleeper),
    ("Plant", Plant),
    ("Vessel", Vessel),
):
    gymnasium.register(f"Stranger/{name}-v0", cls)
