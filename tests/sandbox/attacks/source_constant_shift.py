# Tries to: a constant shift that would need all memory.
# Must be stopped by: rlimits (address space).

x = 1 << (1 << 40)


class Policy:
    def act(self, obs):
        return 0
