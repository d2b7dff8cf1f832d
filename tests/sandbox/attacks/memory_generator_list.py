# Tries to: turn an endless generator into a list.
# Must be stopped by: rlimits; step deadline.

class Policy:
    def act(self, obs):
        import itertools
        return list(itertools.count())
