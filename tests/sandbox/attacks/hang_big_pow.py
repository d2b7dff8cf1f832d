# Tries to: an integer power that never ends.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        return (7 ** 10 ** 9) % 3
