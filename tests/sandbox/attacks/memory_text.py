# Tries to: text of ten gigabytes.
# Must be stopped by: rlimits (address space).

class Policy:
    def act(self, obs):
        return len('x' * 10**10)
