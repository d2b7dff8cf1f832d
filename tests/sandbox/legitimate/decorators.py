# Style: a decorator of its own with wraps.

import functools


def clipped(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return max(0, min(2, f(*args, **kwargs)))

    return inner


@clipped
def choose(obs, scale=10):
    return int(obs[0] * scale)


class Policy:
    def act(self, obs):
        return choose(obs)
