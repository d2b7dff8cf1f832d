# Style: a context manager of its own.

class Counter:
    def __init__(self):
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, *error):
        self.depth -= 1
        return False


class Policy:
    def __init__(self):
        self.counter = Counter()

    def act(self, obs):
        with self.counter as c:
            return c.depth
