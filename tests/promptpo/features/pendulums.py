"""A scripted model that knows pendulum dynamics except for the mass, with three policies; and a check that always objects."""

SIMULATOR = '''
A pendulum under gravity, pushed by a motor; its mass is a guess.

```python
"""A rod that swings about its end."""
import numpy as np

PARAMS = {"mass": (0.7, 0.3, 3.0), "unused": (1.0, 0.5, 2.0)}


class Simulator:
    def __init__(self, params, rng):
        self.mass, self.rng = params["mass"], rng

    def reset(self, n):
        self.angle = self.rng.uniform(-np.pi, np.pi, n)
        self.rate = self.rng.uniform(-1.0, 1.0, n)
        return self.seen()

    def set(self, obs):
        self.angle = np.arctan2(obs[:, 1], obs[:, 0]).astype(float)
        self.rate = obs[:, 2].astype(float)

    def seen(self):
        return np.stack([np.cos(self.angle), np.sin(self.angle), self.rate], axis=1)

    def step(self, actions):
        push = np.clip(actions[:, 0], -2.0, 2.0)
        angle = (self.angle + np.pi) % (2 * np.pi) - np.pi
        cost = angle**2 + 0.1 * self.rate**2 + 0.001 * push**2
        rate = self.rate + 0.05 * (15.0 * np.sin(self.angle) + 3.0 / self.mass * push)
        self.rate = np.clip(rate, -8.0, 8.0)
        self.angle = self.angle + 0.05 * self.rate
        return self.seen(), -cost, np.zeros(len(cost), bool)
```
'''

ENERGY = '''```python
"""Pumps energy, then holds."""
import numpy as np

PARAMS = {"pump": (0.5, -2.0, 2.0), "p": (5.0, 0.0, 30.0), "d": (1.0, 0.0, 8.0), "near": (0.8, 0.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        p = self.p
        energy = 0.5 * obs[2] ** 2 + 15.0 * (obs[0] - 1.0)
        hold = -p["p"] * obs[1] - p["d"] * obs[2]
        push = np.where(obs[0] > p["near"], hold, -p["pump"] * energy * obs[2])
        return [push]
```'''

LINEAR = '''```python
"""A linear law."""
PARAMS = {"a": (0.0, -10.0, 10.0), "b": (0.0, -10.0, 10.0), "c": (0.0, -10.0, 10.0)}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        return [self.p["a"] * obs[0] + self.p["b"] * obs[1] + self.p["c"] * obs[2]]
```'''

CLOCK = '''```python
"""A clock that pushes to and fro."""
import numpy as np

PARAMS = {"size": (1.0, 0.0, 2.0), "rate": (3.0, 0.5, 8.0)}


class Policy:
    def __init__(self, params):
        self.p, self.t = params, 0

    def act(self, obs):
        self.t = self.t + 1
        return [self.p["size"] * np.sin(self.p["rate"] * 0.05 * self.t) + 0.0 * obs[0]]
```'''

ANSWERS = {
    "s.write1": SIMULATOR,
    "s.write2": "KEEP: what is left is rounding",
    "s.structures": f"Three.\n\n{ENERGY}\n\n{LINEAR}\n\n{CLOCK}",
    "s.grow1": "KEEP: nothing is missing",
}
