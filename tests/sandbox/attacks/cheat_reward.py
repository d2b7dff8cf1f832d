# Tries to: look for the reward and return it as an action.
# Must be stopped by: process: rewards never reach it.

class Policy:
    def act(self, obs):
        return max([v for v in globals().values() if isinstance(v, float)] + [0])
