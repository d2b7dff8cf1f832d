# Style: __call__ and act.

class Policy:
    def __call__(self, obs):
        return int(obs.sum() > 0)

    def act(self, obs):
        return self(obs)
