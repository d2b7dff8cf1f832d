# Style: reset by calling the constructor, bases called by name, closures with nonlocal, generators with send.
import numpy as np


class Base:
    def __init__(self, gain):
        self.gain = gain

    def output(self, x):
        return self.gain * x


class Derived(Base):
    def __init__(self):
        Base.__init__(self, 2.0)
        self.extra = 1

    def output(self, x):
        return super().output(x) + self.extra


def smoother(alpha):
    state = None

    def update(x):
        nonlocal state
        state = x if state is None else alpha * x + (1 - alpha) * state
        return state

    return update


def averaging():
    total, n = 0.0, 0
    x = yield 0.0
    while True:
        total, n = total + x, n + 1
        x = yield total / n


class Policy:
    def __init__(self):
        self.controller = Derived()
        self.smooth = smoother(0.5)
        self.average = averaging()
        next(self.average)

    def reset(self):
        self.__init__()

    def act(self, obs):
        value = self.controller.output(self.smooth(obs[0])) + self.average.send(float(np.mean(obs)))
        return int(value > 0)
