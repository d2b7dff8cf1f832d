# Tries to: a decimal conversion of quadratic cost.
# Must be stopped by: the interpreter's digit limit; step deadline.

class Policy:
    def act(self, obs):
        x = 1 << 10**7
        return len(str(x))
