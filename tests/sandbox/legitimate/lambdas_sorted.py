# Style: sorting with keys.

class Policy:
    def act(self, obs):
        order = sorted(range(3), key=lambda i: (-obs[i], i))
        return order[0]
