# Style: itertools and functools.

import itertools
from functools import partial, reduce


class Policy:
    def act(self, obs):
        total = reduce(lambda a, b: a + b, itertools.accumulate(int(v > 0) for v in obs), 0)
        pairs = list(itertools.combinations(range(3), 2)) + list(itertools.product((0, 1), repeat=2))
        half = partial(pow, 2)
        return (total + len(pairs) + half(3) + sum(pair[0] for pair in pairs)) % 3
