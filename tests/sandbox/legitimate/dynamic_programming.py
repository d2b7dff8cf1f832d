# Style: memoised recursion.

from functools import lru_cache


@lru_cache(maxsize=None)
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


class Policy:
    def act(self, obs):
        return ways(10) % 3
