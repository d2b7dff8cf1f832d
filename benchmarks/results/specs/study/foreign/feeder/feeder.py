"""Home battery on a feeder.

The file feeder.csv holds a month of load and sun by the hour.
"""
import csv
import json
import pathlib
from bisect import bisect_right

import gymnasium as gym
import numpy as np

HERE = pathlib.Path(__file__).parent
SETTINGS = json.loads((HERE / "feeder.json").read_text())


def read_rows(path):
    with open(path) as f:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]


def tariff(hour):
    starts = [s for s, _ in SETTINGS["tariff"]]
    return SETTINGS["tariff"][bisect_right(starts, hour) - 1][1]


class Meter:
    def __init__(self):
        self.readings = []
        self.total = 0.0

    def add(self, kwh, price):
        self.readings.append(kwh)
        self.total += kwh * price
        return kwh * price


class _Core(gym.Env):
    """Charge, discharge, or do nothing."""

    rows = read_rows(HERE / "feeder.csv")

    def __init__(self, days=3):
        self.days = days
        self.meter = Meter()
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,))
        self.observation_space = gym.spaces.Box(0, 1, (4,))
        self.start_hours = list(range(0, len(self.rows) - 24 * days, 24))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.first = int(self.np_random.choice(self.start_hours))
        self.hour, self.charge = 0, 0.5
        self.meter = Meter()
        return self._obs(), {}

    def _row(self):
        return self.rows[self.first + self.hour]

    def _obs(self):
        row = self._row()
        return np.array([self.charge, row["load"] / 6, row["sun"], (self.hour % 24) / 24], np.float32)

    def step(self, action):
        kw = float(np.clip(action[0], -1, 1)) * SETTINGS["battery"]["kw"]
        size = SETTINGS["battery"]["kwh"]
        new = np.clip(self.charge * size + kw * (1 - SETTINGS["battery"]["loss"] * (kw > 0)), 0, size)
        row = self._row()
        net = row["load"] - 4 * row["sun"] + (new - self.charge * size)
        self.charge = new / size
        price = tariff(self.hour % 24) if net > 0 else SETTINGS["export"]
        cost = self.meter.add(net, price)
        self.hour += 1
        done = self.hour >= 24 * self.days
        return self._obs(), -cost, False, done, {"total": self.meter.total}


class Smooth(gym.ActionWrapper):
    """Moves only half way to what is asked."""

    def __init__(self, env, share=0.5):
        super().__init__(env)
        self.share, self.last = share, 0.0

    def action(self, action):
        self.last = self.last + self.share * (float(action[0]) - self.last)
        return np.array([self.last], np.float32)


class Feeder(gym.Wrapper):
    """A battery with a slow inverter."""

    def __init__(self, days=3):
        super().__init__(gym.wrappers.RescaleAction(Smooth(_Core(days)), np.float32(-2), np.float32(2)))
