# Tries to: return the observation.
# Must be stopped by: guest and host: checked against the action space.

class Policy:
    def act(self, obs):
        return obs
