"""Five environments of crafts, goods and traffic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

Step = tuple[Any, float, bool, bool, dict[str, Any]]


def _box(low: Sequence[float], high: Sequence[float]) -> spaces.Box:
    return spaces.Box(np.array(low, dtype=np.float32), np.array(high, dtype=np.float32))


class Kiln(gymnasium.Env[Any, Any]):
    """Fire a pottery kiln through 120 intervals of five minutes.

    The ware is to follow a firing schedule (kelvin above the room). Heat comes in through the burner and soaks from
    the shell of the pots into their core. Ware that is heated or cooled too unevenly cracks, and then the firing is over.
    """

    observation_space = _box([0, 0, 0, 0], [1600, 1600, 1600, 1])
    action_space = _box([0], [1])
    CAPACITY, LEAK, SOAK, CRACK = 9.0, 0.011, 0.16, 115.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Cold ware of a size that differs from firing to firing."""
        super().reset(seed=seed, options=options)
        self.size = self.np_random.uniform(0.8, 1.25)
        self.top = self.np_random.uniform(900, 1150)
        self.shell = self.core = 0.0
        self.t = 0
        return self._observe(), {}

    def _wanted(self, t: int) -> float:
        ramp = min(1.0, t / 70)
        return float(self.top * ramp if t < 90 else self.top * (1 - (t - 90) / 60))

    def _observe(self) -> Any:
        return np.array([self.shell, self.core, self._wanted(self.t + 1), self.t / 120], dtype=np.float32)

    def step(self, action: Any) -> Step:
        """Five minutes of firing."""
        gas = float(np.clip(action[0], 0, 1))
        flow = self.SOAK * (self.shell - self.core) / self.size
        self.shell += self.CAPACITY * 4 * gas - self.LEAK * 2 * self.shell - flow
        self.core += flow
        self.t += 1
        strain = abs(self.shell - self.core)
        cracked = bool(strain > self.CRACK)
        miss = abs(self.core - self._wanted(self.t)) / 100
        reward = 1.0 - miss - 0.3 * gas
        if cracked:
            reward -= 60.0
        return self._observe(), reward, cracked, self.t >= 120, {"strain": strain}


class Ferry(gymnasium.Env[Any, Any]):
    """Bring a ferry across a river and lay it alongside the pier.

    Observation: distance to the far bank, distance downstream of the pier, speed across, speed along, current.
    """

    observation_space = _box([-10, -300, -10, -10, 0], [400, 300, 10, 10, 5])
    action_space = _box([-1, -1], [1, 1])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """At the near bank, somewhere up or down the river."""
        super().reset(seed=seed, options=options)
        self.width = self.np_random.uniform(180, 300)
        self.along = self.np_random.uniform(-60, 60)
        self.across = 0.0
        self.speed = np.zeros(2)
        self.base = self.np_random.uniform(0.5, 1.8)
        self.minutes = 0
        return self._observe(), {}

    def _current(self) -> float:
        place = np.clip(self.across / self.width, 0, 1)
        return float(self.base * 4 * place * (1 - place))

    def _observe(self) -> Any:
        return np.array(
            [self.width - self.across, self.along, self.speed[0], self.speed[1], self._current()],
            dtype=np.float32,
        )

    def step(self, action: Any) -> Step:
        """Ten seconds under way."""
        push = np.clip(np.asarray(action, dtype=float), -1, 1)
        self.speed = 0.9 * self.speed + 0.35 * push
        gust = self.np_random.normal(0, 0.1)
        self.across = max(0.0, self.across + 3 * self.speed[0])
        self.along += 3 * (self.speed[1] + 0.4 * self._current()) + gust
        self.minutes += 1
        landed = bool(self.across >= self.width)
        reward = -0.05 - 0.02 * float(np.abs(push).sum())
        if landed:
            reward += self._landing()
        return self._observe(), reward, landed, self.minutes >= 200, {}

    def _landing(self) -> float:
        """What an arrival is worth: near the pier, and slow."""
        bump = max(0.0, self.speed[0] - 0.5)
        return float(30.0 - 0.4 * abs(self.along) - 15.0 * bump - 5.0 * abs(self.speed[1]))


class Bakery(gymnasium.Env[Any, Any]):
    """Decide every hour of a day how many trays of rolls and loaves go into the oven.

    The oven takes an hour. Rolls are worth selling for three hours, loaves until closing. Demand depends on the hour.
    """

    metadata = {"prices": (2.0, 5.0), "costs": (0.7, 2.0)}
    observation_space = spaces.Dict(
        {
            "hour": spaces.Discrete(14),
            "shelf": spaces.Box(0, 500, (4,), np.float32),
            "oven": spaces.Box(0, 100, (2,), np.float32),
        }
    )
    action_space = spaces.MultiDiscrete([7, 7])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Before opening; shelves are empty."""
        super().reset(seed=seed, options=options)
        self.hour = 0
        self.rolls = np.zeros(3)
        self.loaves = 0.0
        self.oven = np.zeros(2)
        self.crowd = self.np_random.uniform(0.7, 1.3)
        return self._observe(), {}

    def _observe(self) -> dict[str, Any]:
        shelf = np.array([*self.rolls, self.loaves], dtype=np.float32)
        return {"hour": self.hour, "shelf": shelf, "oven": self.oven.astype(np.float32)}

    def step(self, action: Any) -> Step:
        """One hour: the oven is emptied and filled, customers come."""
        self.rolls[0] += self.oven[0]
        self.loaves += self.oven[1]
        self.oven = np.array([12.0 * action[0], 5.0 * action[1]])
        peak = np.exp(-((self.hour - 2) ** 2) / 4) + 0.6 * np.exp(-((self.hour - 9) ** 2) / 6)
        wanted = self.np_random.poisson(self.crowd * np.array([30 * peak + 3, 9 * peak + 2]))
        sold = np.array([min(wanted[0], self.rolls.sum()), min(wanted[1], self.loaves)])
        left = sold[0]
        for age in (2, 1, 0):
            taken = min(left, self.rolls[age])
            self.rolls[age] -= taken
            left -= taken
        self.loaves -= sold[1]
        stale = self.rolls[2]
        self.rolls = np.array([0.0, self.rolls[0], self.rolls[1]])
        self.hour += 1
        profit = float(sold @ self.metadata["prices"]) - float(self.oven @ self.metadata["costs"])
        if self.hour >= 13:
            stale += self.rolls.sum() + self.loaves
        missed = float((wanted - sold).sum())
        reward = profit - 0.2 * missed - 0.1 * float(stale)
        return self._observe(), reward, False, self.hour >= 13, {"sold": sold}


class Relay(gymnasium.Env[Any, Any]):
    """A radio relay with three queues and one transmitter.

    In each slot it may serve one queue or save energy. Channels are good or bad and stay so for a while. Packets that
    wait too long are dropped; their ages are in slots.

    Actions:
        0 idle, 1 serve queue A, 2 serve queue B, 3 serve queue C
    """

    observation_space = _box([0] * 9, [40, 40, 40, 1, 1, 1, 40, 40, 40])
    action_space = spaces.Discrete(4)
    weights = (1.0, 2.0, 4.0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Empty queues."""
        super().reset(seed=seed, options=options)
        self.queues: list[list[int]] = [[], [], []]
        self.good = self.np_random.integers(0, 2, 3)
        self.slot = 0
        return self._observe(), {}

    def _observe(self) -> Any:
        lengths = [min(40, len(q)) for q in self.queues]
        oldest = [min(40, max(q, default=0)) for q in self.queues]
        return np.array([*lengths, *self.good, *oldest], dtype=np.float32)

    def step(self, action: Any) -> Step:
        """One slot."""
        served = self._serve(int(action) - 1) if action > 0 else 0.0
        late = 0.0
        for i, queue in enumerate(self.queues):
            queue[:] = [age + 1 for age in queue]
            dropped = [age for age in queue if age > (12, 9, 6)[i]]
            late += self.weights[i] * len(dropped)
            queue[:] = [age for age in queue if age <= (12, 9, 6)[i]]
            queue.extend([0] * int(self.np_random.random() < (0.35, 0.25, 0.15)[i]))
        flips = self.np_random.random(3) < 0.15
        self.good = np.where(flips, 1 - self.good, self.good)
        self.slot += 1
        reward = served - late - (0.15 if action > 0 else 0.0)
        return self._observe(), reward, False, self.slot >= 200, {}

    def _serve(self, which: int) -> float:
        queue = self.queues[which]
        if not queue or self.np_random.random() > (0.95 if self.good[which] else 0.3):
            return 0.0
        queue.remove(max(queue))
        return self.weights[which]


class Warehouse(gymnasium.Env[Any, Any]):
    """A stacker crane in a high rack: fetch orders from bays before their trucks leave.

    The crane has a place (bay and level) and carries at most one box. Four orders wait; each has a bay, a level and the
    time that is left. Boxes are handed over at bay 0, level 0.

    :param action: 0 left, 1 right, 2 down, 3 up, 4 take or hand over
    """

    observation_space = _box([0] * 15, [11, 5, 1] + [11, 5, 60] * 4)
    action_space = spaces.Discrete(5)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The crane stands at the counter."""
        super().reset(seed=seed, options=options)
        self.bay = self.level = 0
        self.carries = False
        self.orders = np.array([self._order() for _ in range(4)])
        self.t = 0
        return self._observe(), {}

    def _order(self) -> list[int]:
        return [
            int(self.np_random.integers(1, 12)),
            int(self.np_random.integers(0, 6)),
            int(self.np_random.integers(25, 61)),
        ]

    def _observe(self) -> Any:
        return np.array([self.bay, self.level, float(self.carries), *self.orders.ravel()], dtype=np.float32)

    def step(self, action: Any) -> Step:
        """One move of the crane."""
        reward = -0.01
        if action in (0, 1):
            self.bay = int(np.clip(self.bay + (1 if action == 1 else -1), 0, 11))
        elif action in (2, 3):
            self.level = int(np.clip(self.level + (1 if action == 3 else -1), 0, 5))
        elif self.carries and (self.bay, self.level) == (0, 0):
            self.carries = False
            reward += 1.0
        elif not self.carries:
            reward += self._take()
        self.orders[:, 2] -= 1
        for i in np.flatnonzero(self.orders[:, 2] < 0):
            reward -= 0.5
            self.orders[i] = self._order()
        self.t += 1
        return self._observe(), reward, False, self.t >= 150, {}

    def _take(self) -> float:
        for i, (bay, level, _) in enumerate(self.orders):
            if (bay, level) == (self.bay, self.level):
                self.carries = True
                self.orders[i] = self._order()
                return 0.2
        return -0.05
