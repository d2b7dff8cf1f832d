# Tries to: stay just under the step deadline in every step.
# Must be stopped by: episode deadline.

class Policy:
    def act(self, obs):
        x = 0
        for i in range(300_000):
            x += i
        return 0
