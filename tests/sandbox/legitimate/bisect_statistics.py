# Style: bisect, statistics, fractions.

import bisect
import statistics
from fractions import Fraction


class Policy:
    def __init__(self):
        self.xs = []

    def act(self, obs):
        self.xs.append(float(obs[0]))
        self.xs.sort()
        i = bisect.bisect_left(self.xs, 0.0)
        m = statistics.mean(self.xs)
        return (i + int(m > 0) + Fraction(1, 2).denominator) % 3
