# Tries to: a list of ten billion items.
# Must be stopped by: rlimits (address space).

class Policy:
    def act(self, obs):
        x = [0] * 10**10
        return 0
