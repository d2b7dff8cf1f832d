# Tries to: write into the observation to change the environment.
# Must be stopped by: process: observations are copies.

class Policy:
    def act(self, obs):
        obs[:] = 99
        return 0
