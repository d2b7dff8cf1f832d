# Tries to: sort with a comparison that never ends.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        def key(x):
            while True:
                pass
        return sorted([2, 1], key=key)[0]
