"""Five environments of plants, animals and weather."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

Step = tuple[Any, float, bool, bool, dict[str, Any]]


def _box(low: list[float], high: list[float]) -> spaces.Box:
    return spaces.Box(np.array(low, dtype=np.float32), np.array(high, dtype=np.float32))


class Greenhouse(gymnasium.Env[Any, Any]):
    """A greenhouse over four days in spring, in steps of half an hour.

    ## Action Space
    | Num | Action | Min | Max |
    |-----|--------|-----|-----|
    | 0 | heating | 0 | 1 |
    | 1 | opening of the vents | 0 | 1 |
    | 2 | lamps | 0 | 1 |

    ## Observation Space
    | Num | Observation | Min | Max | Unit |
    |-----|-------------|-----|-----|------|
    | 0 | inside temperature | -10 | 50 | degrees |
    | 1 | inside humidity | 0 | 1 | |
    | 2 | outside temperature | -10 | 50 | degrees |
    | 3 | sunlight | 0 | 1 | |
    | 4 | sine of the time of day | -1 | 1 | |
    | 5 | cosine of the time of day | -1 | 1 | |
    """

    observation_space = _box([-10, 0, -10, 0, -1, -1], [50, 1, 50, 1, 1, 1])
    action_space = _box([0, 0, 0], [1, 1, 1])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """At midnight."""
        super().reset(seed=seed, options=options)
        self.t = 0
        self.inside, self.wet = self.np_random.uniform(8, 16), self.np_random.uniform(0.5, 0.8)
        self.mild, self.cloud = self.np_random.uniform(4, 14), self.np_random.uniform(0, 0.6)
        self._weather()
        return self._observe(), {}

    def _weather(self) -> None:
        day = np.sin(2 * np.pi * (self.t / 48 - 0.3))
        self.cloud = float(np.clip(self.cloud + self.np_random.normal(0, 0.05), 0, 0.9))
        self.sun = float(max(0.0, day) * (1 - self.cloud))
        self.outside = float(self.mild + 6 * day)

    def _observe(self) -> Any:
        phase = 2 * np.pi * self.t / 48
        return np.array(
            [self.inside, self.wet, self.outside, self.sun, np.sin(phase), np.cos(phase)], dtype=np.float32
        )

    def _growth(self, light: float) -> float:
        warm = np.exp(-(((self.inside - 22.0) / 6.0) ** 2))
        return float(light / (0.25 + light) * warm)

    def step(self, action: Any) -> Step:
        """Half an hour."""
        heat, vent, lamps = (float(x) for x in np.clip(action, 0, 1))
        exchange = 0.05 + 0.5 * vent
        self.inside += exchange * (self.outside - self.inside) + 5.0 * heat + 6.0 * self.sun + 0.6 * lamps
        light = self.sun + 0.35 * lamps
        self.inside = float(np.clip(self.inside, -10, 50))
        self.wet = float(np.clip(self.wet + 0.08 * light - 0.25 * vent * self.wet + 0.01, 0, 1))
        self.t += 1
        self._weather()
        mould = max(0.0, self.wet - 0.85)
        reward = self._growth(light) - 0.25 * heat - 0.2 * lamps - 4.0 * mould
        if self.inside < 2:
            reward -= 2.0
        return self._observe(), reward, False, self.t >= 192, {"mould": mould}


class Frost(gymnasium.Env[Any, Any]):
    """Protect an orchard in bloom during a night of frost.

    Every ten minutes: 0 nothing, 1 wind machine, 2 sprinklers, 3 both. Buds that freeze are lost. Water that freezes on
    the branches weighs on them; wind machines help only under an inversion.
    """

    observation_space = _box([-15, -15, 0, 0, 0, 0], [20, 20, 10, 1, 1, 1])
    action_space = spaces.Discrete(4)
    fuel, water = 0.06, 0.03

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Sunset."""
        super().reset(seed=seed, options=options)
        self.low = self.np_random.uniform(-7, -1)
        self.inversion = self.np_random.uniform(0.5, 6)
        self.air, self.bud, self.ice, self.alive, self.k = 6.0, 6.0, 0.0, 1.0, 0
        return self._observe(), {}

    def _observe(self) -> Any:
        above = self.air + self.inversion
        return np.array(
            [self.air, above, self.ice, self.alive, self.k / 72, float(self.bud < 0)], dtype=np.float32
        )

    def step(self, action: Any) -> Step:
        """Ten minutes."""
        wind, spray = int(action) in (1, 3), int(action) in (2, 3)
        trend = self.low + (6.0 - self.low) * abs(self.k / 72 - 0.65) ** 1.5
        self.air += 0.12 * (trend - self.air) + self.np_random.normal(0, 0.15)
        around = self.air + (0.45 * self.inversion if wind else 0.0)
        self.bud += 0.3 * (around - self.bud) + (0.5 if spray and self.bud < 0.5 else 0.0)
        self.ice = max(0.0, self.ice + (0.25 if spray and around < 0 else -0.08 * max(0.0, around)))
        loss = self.alive * min(1.0, 0.04 * max(0.0, -1.8 - self.bud) ** 2 + 0.02 * max(0.0, self.ice - 4.0))
        self.alive -= loss
        self.k += 1
        reward = -20.0 * loss - self.fuel * wind - self.water * spray
        dead = bool(self.alive < 0.05)
        return self._observe(), float(reward), dead, self.k >= 72, {}


class SolarPump(gymnasium.Env[Any, Any]):
    """A solar pump for a village: well, tank on a hill, battery.

    Observation: tank (m3), battery (kWh), power of the panels (kW), level of the well (m), hour of the day.
    Action: pump (0 .. 3 kW) and share of the surplus that goes to the mill.
    """

    observation_space = _box([0, 0, 0, 0, 0], [30, 10, 5, 20, 24])
    action_space = _box([0, 0], [3, 1])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Six in the morning."""
        super().reset(seed=seed, options=options)
        self.tank, self.battery = self.np_random.uniform(5, 20), self.np_random.uniform(1, 6)
        self.well, self.hour, self.n = self.np_random.uniform(10, 18), 6, 0
        self.haze = self.np_random.uniform(0, 0.5)
        self.power = self._panels()
        return self._observe(), {}

    def _panels(self) -> float:
        high = max(0.0, np.sin(np.pi * (self.hour - 6) / 12))
        self.haze = float(np.clip(self.haze + self.np_random.normal(0, 0.08), 0, 0.8))
        return float(4.5 * high * (1 - self.haze))

    def _observe(self) -> Any:
        return np.array([self.tank, self.battery, self.power, self.well, self.hour], dtype=np.float32)

    def step(self, action: Any) -> Step:
        """One hour."""
        pump = float(np.clip(action[0], 0, 3))
        mill = float(np.clip(action[1], 0, 1))
        pump = min(pump, self.power + self.battery)
        lift = pump * 1.6 * min(1.0, self.well / 6)
        surplus = max(0.0, self.power - pump)
        self.battery = float(np.clip(self.battery + self.power - pump - mill * surplus, 0, 10))
        thirst = (
            1.2
            + 1.5 * (7 <= self.hour <= 9)
            + 2.0 * (17 <= self.hour <= 20)
            + self.np_random.exponential(0.3)
        )
        spilled = max(0.0, self.tank + lift - 30.0)
        given = min(thirst, self.tank + lift)
        self.tank = float(np.clip(self.tank + lift - given, 0, 30))
        self.well = float(np.clip(self.well + 0.7 - 0.35 * lift, 0, 20))
        self.hour, self.n = (self.hour + 1) % 24, self.n + 1
        self.power = self._panels()
        dry = thirst - given
        reward = given + 0.4 * mill * surplus - 3.0 * dry - 0.5 * spilled
        if self.well < 1:
            reward -= 1.0
        return self._observe(), reward, False, self.n >= 72, {}


class Apiary(gymnasium.Env[Any, Any]):
    """Keep bees through a season of 26 weeks.

    Each week a keeper feeds sugar, harvests honey, treats against mites and gives room. Colonies without room swarm,
    colonies with many mites die.
    """

    observation_space = spaces.Dict(
        {
            "week": spaces.Discrete(27),
            "colony": spaces.Box(0, 80, (3,), np.float32),
            "bloom": spaces.Box(0, 1, (1,), np.float32),
        }
    )
    action_space = spaces.MultiDiscrete([3, 3, 2, 2])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """April: bees (thousands), honey (kg), mites (per hundred bees)."""
        super().reset(seed=seed, options=options)
        self.week, self.room = 0, 20.0
        self.bees, self.honey, self.mites = (
            self.np_random.uniform(8, 14),
            self.np_random.uniform(3, 8),
            self.np_random.uniform(0.5, 2),
        )
        self.year = self.np_random.uniform(0.6, 1.2)
        return self._observe(), {}

    def _bloom(self) -> float:
        return float(
            min(
                1.0,
                self.year
                * (np.exp(-(((self.week - 5) / 3) ** 2)) + 0.8 * np.exp(-(((self.week - 13) / 4) ** 2))),
            )
        )

    def _observe(self) -> dict[str, Any]:
        colony = np.array([self.bees, self.honey, self.mites], dtype=np.float32)
        return {"week": self.week, "colony": colony, "bloom": np.array([self._bloom()], dtype=np.float32)}

    def step(self, action: Any) -> Step:
        """One week."""
        fed, taken, treat, more = (int(x) for x in action)
        out = min(6.0 * taken, max(0.0, self.honey - 2.0))
        self.honey += 2.0 * fed - out
        self.room += 15.0 * more
        brought = 0.35 * self.bees * self._bloom() * self.np_random.uniform(0.7, 1.1)
        eaten = 0.06 * self.bees
        self.honey = min(80.0, max(0.0, self.honey + brought - eaten))
        self.mites *= 0.35 if treat else 1.16
        hungry = self.honey <= 0.0
        self.bees *= 0.6 if hungry else 1.0 + 0.2 * (self._bloom() - 0.25) - 0.012 * self.mites
        swarmed = self.bees > self.room
        if swarmed:
            self.bees *= 0.5
        self.bees = min(self.bees, 80.0)
        self.week += 1
        lost = bool(self.bees < 2.0)
        earned = out * 4.0 * (0.5 if treat else 1.0)
        reward = earned - 1.5 * fed - 3.0 * treat - 5.0 * more - 10.0 * swarmed
        if self.week >= 26 and not lost:
            reward += 2.0 * min(self.bees, 15.0) - 4.0 * self.mites
        return self._observe(), float(reward), lost, self.week >= 26, {"harvest": out}


class Fishpond(gymnasium.Env[Any, Any]):
    """Raise carp in a pond: feed, aerate, and sell when they are worth it."""

    observation_space = _box([0, 0, 0, 0, 0], [3, 20, 5, 40, 1])
    action_space = _box([0, 0, 0], [1, 1, 1])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Fingerlings are set out."""
        super().reset(seed=seed, options=options)
        self.weight, self.stock = 0.1, 1.0
        self.oxygen, self.ammonia = 9.0, 0.2
        self.spring = self.np_random.uniform(10, 15)
        self.day = 0
        self.worth = self._value()
        return self._observe(), {}

    def _temperature(self) -> float:
        return float(self.spring + 11 * np.sin(np.pi * self.day / 180))

    def _observe(self) -> Any:
        return np.array(
            [self.weight, self.oxygen, self.ammonia, self._temperature(), self.stock], dtype=np.float32
        )

    def _value(self) -> float:
        return 100.0 * self.stock * self.weight

    def step(self, action: Any) -> Step:
        """One day."""
        feed, air, sell = (float(x) for x in np.clip(action, 0, 1))
        warm = self._temperature()
        appetite = np.clip((warm - 8) / 14, 0, 1) * np.clip((self.oxygen - 2) / 4, 0, 1)
        eaten = min(feed, appetite)
        sold = 0.1 * sell * self.stock
        income = 110.0 * sold * self.weight * (1.0 if self.weight > 0.8 else 0.4)
        self.stock -= sold
        self.weight += 0.012 * eaten * self.weight**0.6
        self.ammonia = max(0.0, 0.85 * self.ammonia + 0.3 * self.stock * (feed - 0.7 * eaten))
        full = 14.0 - 0.22 * warm
        self.oxygen += (
            0.2 * (full - self.oxygen)
            + 1.6 * air
            - 1.5 * self.stock * self.weight * eaten
            - 0.4 * self.ammonia
        )
        self.oxygen = float(np.clip(self.oxygen + self.np_random.normal(0, 0.2), 0, 18))
        stress = max(0.0, 3.0 - self.oxygen) + max(0.0, self.ammonia - 1.0)
        self.stock = max(0.0, self.stock * (1 - 0.03 * stress))
        self.day += 1
        worth = self._value()
        reward = worth - self.worth + income - 0.35 * feed * max(self.stock, 0.05) - 0.15 * air
        self.worth = worth
        empty = bool(self.stock < 0.02)
        return self._observe(), float(reward), empty, self.day >= 150, {}
