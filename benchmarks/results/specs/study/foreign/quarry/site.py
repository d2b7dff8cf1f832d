import copy
from typing import NamedTuple

import gymnasium as gym
import numpy as np

from . import conf as c
from .parts import pay
from .parts.kinds import Order, Rock


class Ledger(NamedTuple):
    delivered: float
    money: float
    rain: bool


class Face:
    def __init__(self, rock, tonnes):
        self.rock, self.tonnes = rock, tonnes

    def dig(self, n):
        out = min(n, self.tonnes)
        self.tonnes -= out
        return out

    @property
    def is_empty(self):
        return self.tonnes <= 1e-6


class QuarryEnv(gym.Env):
    metadata = {"render_modes": ["ansi"]}

    def __init__(self, conf=None, pay_by=None):
        self.conf = conf or c.QuarryConf()
        self.pay_by = pay_by or pay.Sum(pay.ByMoney(), pay.ByTonnes(0.5), pay.WhenWet())
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gym.spaces.Discrete(len(Order))
        self._do = {Order.DIG: self._dig, Order.BLAST: self._blast, Order.HAUL: self._haul, Order.REST: lambda: None}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.half_hours, self.load, self.rain = 0, 0.0, False
        self.ledger = Ledger(0.0, 0.0, False)
        self.face = self._new_face()
        return self._look(), {}

    def _new_face(self):
        u = self.np_random.random()
        rock = Rock.GRANITE if u < self.conf.vein else Rock.LIME if u < 0.8 else Rock.RUBBLE
        return Face(rock, float(self.np_random.uniform(20, 60)))

    def _dig(self):
        if not self.face.is_empty:
            self.load = min(self.conf.trucks.capacity, self.load + self.face.dig(2.0))

    def _blast(self):
        self.face = self._new_face()

    def _haul(self):
        money = self.load * self.conf.price[self.face.rock] - self.conf.trucks.fuel_per_segment * 4
        self.ledger = self.ledger._replace(delivered=self.ledger.delivered + self.load, money=self.ledger.money + money)
        self.load = 0.0

    def step(self, action):
        order, before = Order(action), copy.copy(self.ledger)
        self._do[order]()
        self.half_hours += 1
        self.rain = bool(self.np_random.random() < 0.1)
        self.ledger = self.ledger._replace(rain=self.rain)
        reward = self.pay_by(before, self.ledger, order)
        return self._look(), float(reward), False, self.half_hours >= self.conf.steps, {}

    def _look(self):
        return np.array([self.load, self.face.tonnes, self.face.rock.value, self.rain, self.half_hours / self.conf.steps, self.ledger.money], np.float32)


def build(hard=False):
    return gym.wrappers.TransformReward(QuarryEnv(c.QuarryConf.hard() if hard else None), lambda r: r / 10)
