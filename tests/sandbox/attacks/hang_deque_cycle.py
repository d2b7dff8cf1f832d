# Tries to: consume a cycle inside C.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        import itertools, collections
        collections.deque(itertools.cycle([1]), maxlen=0)
        return 0
