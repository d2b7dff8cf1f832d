# Tries to: append without end and swallow MemoryError.
# Must be stopped by: rlimits; step deadline.

class Policy:
    def act(self, obs):
        x = []
        while True:
            try:
                x.append('y' * 10**7)
            except MemoryError:
                pass
