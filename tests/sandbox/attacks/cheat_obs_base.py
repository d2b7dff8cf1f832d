# Tries to: reach the environment's array through obs.base.
# Must be stopped by: gate; process: observations are copies.

class Policy:
    def act(self, obs):
        if obs.base is not None:
            obs.base[...] = 99
        return 0
