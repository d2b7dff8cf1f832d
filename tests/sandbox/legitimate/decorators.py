# Style: a decorator of its own .

import functools


def clipped(f):
    @functools.lru_cache(maxsize=8)
    def inner(*args):
        return max(0, min(2, f(*args)))

    return inner


@clipped
def choose(obs, scale=10):
    return int(obs[0] * scale)


class Policy:
    def act(self, obs):
        return choose(tuple(obs.tolist()))
