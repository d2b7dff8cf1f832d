# Tries to: return an integer of a thousand digits.
# Must be stopped by: guest and host: checked against the action space.

class Policy:
    def act(self, obs):
        return 10 ** 1000
