# Tries to: append without end.
# Must be stopped by: rlimits (address space).

class Policy:
    def act(self, obs):
        x = []
        while True:
            x.append([0] * 1000)
