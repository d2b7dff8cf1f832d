# Style: properties with setters, static and class methods, calls, iterators.
class Filter:
    def __init__(self, alpha):
        self.alpha = alpha
        self._value = 0.0
        self.count = 0

    def __call__(self, x):
        self._value = self.alpha * x + (1 - self.alpha) * self._value
        self.count += 1
        return self._value

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, new):
        self._value = float(new)

    def restart(self):
        self.value = 0

    @classmethod
    def from_tau(cls, tau, dt=0.05):
        return cls(dt / (tau + dt))

    @staticmethod
    def clamp(x, low=-1.0, high=1.0):
        return max(low, min(high, x))

    def __iter__(self):
        yield from (self.alpha, self._value)

    def __repr__(self):
        return f"{type(self).__name__}(alpha={self.alpha:.3f}, value={self._value:+.2e})"


class Policy:
    def __init__(self):
        self.filters = [Filter.from_tau(0.1 * (i + 1)) for i in range(4)]
        self.callbacks = {"left": self._left, "right": self._right}
        self.reset()

    def reset(self):
        for item in self.filters:
            item.restart()

    def _left(self):
        return 0

    def _right(self):
        return 2

    def act(self, obs):
        values = [Filter.clamp(f(x)) for f, x in zip(self.filters, obs)]
        first = self.filters[0]
        alpha, value = first
        text = repr(first)
        return self.callbacks["left" if sum(values) < 0 or text == "" else "right"]() + int(alpha > 2)
