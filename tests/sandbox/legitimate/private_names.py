# Style: leading underscores.

_LIMIT = 3


def _helper(x):
    return int(x > 0)


class _Inner:
    _count = 0

    def count(self):
        self._count += 1


class Policy:
    def __init__(self):
        self._n = 0
        self._m = 1
        self._inner = _Inner()

    def _secret(self, obs):
        self._n += _helper(obs[0]) + self._m
        self._inner.count()
        return self._n

    def act(self, obs):
        _ = obs
        return self._secret(obs) % _LIMIT
