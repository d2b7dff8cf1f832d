# Tries to: an integer of gigabytes.
# Must be stopped by: rlimits (address space).

class Policy:
    def act(self, obs):
        return (1 << 10**11) % 3
