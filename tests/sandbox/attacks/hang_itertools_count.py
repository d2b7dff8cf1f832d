# Tries to: exhaust an infinite iterator.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        import itertools
        return max(itertools.count())
