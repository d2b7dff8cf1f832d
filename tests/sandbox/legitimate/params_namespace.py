# Style: PARAMS as the attributes of a namespace.
from types import SimpleNamespace

PARAMS = {"kp": (1.0, 0.0, 5.0), "kd": (0.2, 0.0, 2.0)}


class Policy:
    def __init__(self, params):
        self.p = SimpleNamespace(**params)
        self.q = SimpleNamespace(gain=params.get("kp", 1.0), on=True)
        for name, value in params.items():
            setattr(self, name, value)
        self.__dict__.update({k: v[0] for k, v in PARAMS.items()})

    def act(self, obs):
        self.q.gain += 0.01
        return int(getattr(self.q, "gain", 0) > 0) + int(hasattr(self, "kp") and self.kp * obs[0] + self.kd > 0)
