# Style: properties, static and class methods.

class Policy:
    GAIN = 2

    def __init__(self):
        self._energy = 0.0

    @property
    def energy(self):
        return self._energy

    @energy.setter
    def energy(self, value):
        self._energy = abs(value)

    @staticmethod
    def clip(x, low, high):
        return max(low, min(high, x))

    @classmethod
    def scale(cls):
        return cls.GAIN

    def act(self, obs):
        self.energy = float(obs[0])
        return self.clip(int(self.energy * self.scale()), 0, 2)
