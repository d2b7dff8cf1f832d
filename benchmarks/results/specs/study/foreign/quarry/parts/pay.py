from abc import ABC, abstractmethod
from .kinds import Order, Rock


class Pay(ABC):
    @abstractmethod
    def __call__(self, before, after, order): ...


class ByTonnes(Pay):
    def __init__(self, weight=1.0):
        self.weight = weight

    def __call__(self, before, after, order):
        return self.weight * (after.delivered - before.delivered)


class ByMoney(Pay):
    """Money that came in, less what blasting costs."""

    def __call__(self, before, after, order):
        cost = BLAST_COST if order is Order.BLAST else 0.0
        return after.money - before.money - cost


class Sum(Pay):
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, before, after, order):
        return sum(part(before, after, order) for part in self.parts)


class WhenWet(Pay):
    """A fine for hauling in rain; nobody hauls then."""

    def __call__(self, before, after, order):
        return -self._fine(after) if order == Order.HAUL and after.rain else 0.0

    def _fine(self, after):
        return 2.5 + 0.1 * after.delivered


BLAST_COST = 6.0
