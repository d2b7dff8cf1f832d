# Tries to: return a generator.
# Must be stopped by: guest and host: checked against the action space.

class Policy:
    def act(self, obs):
        return (i for i in range(3))
