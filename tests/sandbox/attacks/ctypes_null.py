# Tries to: write to address zero.
# Must be stopped by: process: at worst this guest dies.

import ctypes
ctypes.memset(0, 1, 100)


class Policy:
    def act(self, obs):
        return 0
