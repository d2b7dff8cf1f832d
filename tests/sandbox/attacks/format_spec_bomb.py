# Tries to: a format width of a billion fills memory.
# Must be stopped by: rlimits (address space).

class Policy:
    def act(self, obs):
        return len(f"{1:>{10**10}}")
