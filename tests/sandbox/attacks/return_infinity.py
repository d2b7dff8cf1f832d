# Tries to: return infinity.
# Must be stopped by: guest and host: checked against the action space.

class Policy:
    def act(self, obs):
        return float('inf')
