# Style: PARAMS read from the constructor.

PARAMS = {"gain": (1.5, 0.0, 5.0), "bias": (0.1, -1.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.gain = params.get("gain", PARAMS["gain"][0])
        self.bias = params.get("bias", PARAMS["bias"][0])

    def act(self, obs):
        return int(self.gain * obs[0] + self.bias > 0)
