# Style: builtins.

class Policy:
    def act(self, obs):
        pairs = list(zip(obs, obs[1:]))
        return int(any(a > b for a, b in pairs)) + int(all(a > b for a, b in pairs))
