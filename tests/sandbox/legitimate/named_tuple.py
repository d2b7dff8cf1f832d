# Style: NamedTuple and namedtuple.

from collections import namedtuple
from typing import NamedTuple

Pair = namedtuple("Pair", ["a", "b"])


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Policy:
    def act(self, obs):
        p = Point(*obs[:2])
        q = Pair(p.x, p.y)._replace(b=0.0)
        return int(q.a > q.b)
