# Tries to: a bytearray of ten gigabytes.
# Must be stopped by: rlimits (address space).

class Policy:
    def act(self, obs):
        return len(bytearray(10**10))
