# Style: cmath, fractions, decimals, statistics, copy and complex numbers.
import cmath
import copy
import math
import statistics
from decimal import Decimal
from fractions import Fraction
from statistics import mean, pstdev


class Memory(dict):
    def __init__(self, *args):
        super().__init__(*args)
        self.limit = 3

    def remember(self, key, value):
        self[key] = value
        return len(self) > self.limit


class Policy:
    def __init__(self):
        self.memory = Memory()
        self.values = [1.0, 2.0]

    def act(self, obs):
        self.values.append(float(obs[0]))
        z = cmath.exp(1j * cmath.pi * obs[0]) + complex(1, 0)
        spread = pstdev(self.values) + statistics.median(self.values) + mean(self.values)
        part = Fraction(1, 3) + Fraction(1, 6)
        exact = Decimal("0.5") + Decimal(1)
        again = copy.deepcopy(self.values)
        again.pop()
        shallow = copy.copy(self.memory)
        self.memory.remember(len(self.values), spread)
        angle = math.atan2(z.imag, z.real) % math.tau
        assert part == Fraction(1, 2) and part.numerator == 1 and exact == Decimal("1.5")
        return int(angle + len(again) + len(shallow) + math.hypot(*obs[:2]) + z.conjugate().real > 3)
