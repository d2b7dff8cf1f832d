# Tries to: a factorial that never ends.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        import math
        return math.factorial(10**8) % 3
