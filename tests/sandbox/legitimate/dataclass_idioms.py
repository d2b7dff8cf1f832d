# Style: dataclasses with defaults, fields, post-init and inheritance.
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, Optional

import numpy as np


@dataclass
class Gains:
    kp: float = 1.0
    kd: float = 0.1
    history: list[float] = field(default_factory=list)
    LIMIT: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        self.scale = self.kp / (1.0 + self.kd)

    @property
    def ratio(self) -> float:
        return self.kd / self.kp


@dataclass(frozen=True)
class Target(object):
    x: float
    y: float = 0.0


@dataclasses.dataclass
class Timed(Gains):
    t: int = 0
    last: Optional[np.ndarray] = None
    weights: np.ndarray = dataclasses.field(default_factory=lambda: np.ones(4))


class Policy:
    def __init__(self):
        self.gains = Timed(kp=2.0)
        self.target = Target(0.5)

    def act(self, obs):
        self.gains.t += 1
        self.gains.history.append(float(obs[0]))
        self.gains.last = obs
        target = Target(self.target.x, 1.0)
        total = target.x + target.y + self.gains.ratio + self.gains.scale
        history = self.gains.history
        return int(total + history[-1] + self.gains.weights @ obs > 0)
