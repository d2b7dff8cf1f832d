# Style: generators, send and yield from.

import itertools


def count():
    n = 0
    while True:
        got = yield n
        n = got if got is not None else n + 1


def both():
    yield from range(2)
    yield from count()


class Policy:
    def __init__(self):
        self.gen = both()

    def act(self, obs):
        return sum(itertools.islice(self.gen, 3)) % 3
