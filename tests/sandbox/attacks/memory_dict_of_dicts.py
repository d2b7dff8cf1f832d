# Tries to: fill memory with dictionaries.
# Must be stopped by: rlimits; step deadline.

class Policy:
    def act(self, obs):
        d = {}
        n = 0
        while True:
            n += 1
            d[n] = {n: n}
