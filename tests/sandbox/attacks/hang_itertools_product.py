# Tries to: a product of infinite size.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        import itertools
        for x in itertools.product(range(100), repeat=20):
            pass
        return 0
