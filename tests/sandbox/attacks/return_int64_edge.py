# Tries to: return an integer at the edge of 64 bits.
# Must be stopped by: guest and host: checked against the action space.

class Policy:
    def act(self, obs):
        return 2 ** 63
