# Tries to: a set of all pairs.
# Must be stopped by: rlimits; step deadline.

class Policy:
    def act(self, obs):
        return len({(i, j) for i in range(10**5) for j in range(10**5)})
