# Tries to: look for the environment in outer frames, as one would in a shared process.
# Must be stopped by: process: the environment is not in this process.

import sys
frame = sys._getframe()
while frame:
    for value in frame.f_locals.values():
        if hasattr(value, "observation_space"):
            value.state[:] = 99
            print("CANARY reached")
    frame = frame.f_back


class Policy:
    def act(self, obs):
        return 0
