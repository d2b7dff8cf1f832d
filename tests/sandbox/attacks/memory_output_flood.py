# Tries to: print a gigabyte.
# Must be stopped by: output limit.

class Policy:
    def act(self, obs):
        for _ in range(1000):
            print("x" * 10**6)
        return 0
