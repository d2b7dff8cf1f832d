# Tries to: a percent width of a billion fills memory.
# Must be stopped by: rlimits (address space).

class Policy:
    def act(self, obs):
        return len("%9999999999d" % 1)
