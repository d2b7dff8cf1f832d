# Style: PARAMS through self.__dict__.update.

PARAMS = {"w": (0.5, 0, 1)}


class Policy:
    def __init__(self, params):
        self.__dict__.update({k: v[0] for k, v in PARAMS.items()})
        self.__dict__.update(params)

    def act(self, obs):
        return int(self.w * obs[2] > 0)
