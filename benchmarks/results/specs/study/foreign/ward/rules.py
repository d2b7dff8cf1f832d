from __future__ import annotations
import operator
from collections import deque
from contextlib import contextmanager
from typing import TypedDict


class Patient(TypedDict):
    kind: int
    waited: int


SEVERITY = (1.0, 2.5, 8.0)
SPEED = {"nurse": [0.6, 0.3, 0.05], "doctor": [0.9, 0.7, 0.4]}


class Room:
    def __init__(self, who: str):
        self.who, self.busy = who, None
        self.log: list[str] = []

    @contextmanager
    def shift(self):
        yield self
        self.log.append(self.who)

    def serve(self, rng):
        if self.busy is not None and rng.random() < SPEED[self.who][self.busy["kind"]]:
            done, self.busy = self.busy, None
            return done

    class Sterile:
        minutes = 3


class Queue(deque):
    def take(self, key: str):
        if not self:
            return None
        best = max(self, key=operator.itemgetter(key))
        self.remove(best)
        return best

    def tick(self):
        for p in self:
            p["waited"] += 1

    def __str__(self):
        return "queue"


def angry(q):
    return [p for p in q if p["waited"] > PATIENCE[p["kind"]]]


PATIENCE = {0: 40, 1: 20, 2: 6}
