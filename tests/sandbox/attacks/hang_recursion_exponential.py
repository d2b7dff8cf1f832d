# Tries to: a recursion of exponential cost.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        def f(n):
            return f(n - 1) + f(n - 1) if n else 1
        return f(60) % 3
