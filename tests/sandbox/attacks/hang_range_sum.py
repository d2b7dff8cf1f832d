# Tries to: a long loop inside C.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        return sum(range(10**12)) % 3
