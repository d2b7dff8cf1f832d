# Tries to: return an action below the space.
# Must be stopped by: guest and host: checked against the action space.

class Policy:
    def act(self, obs):
        return -1
