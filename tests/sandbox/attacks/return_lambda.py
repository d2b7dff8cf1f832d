# Tries to: return a function.
# Must be stopped by: guest and host: checked against the action space.

class Policy:
    def act(self, obs):
        return lambda: 0
