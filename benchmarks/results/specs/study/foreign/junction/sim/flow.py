import numpy as np

RATE = {"n": 0.30, "s": 0.25, "e": 0.45, "w": 0.20}
DISCHARGE = 2  # cars per tick


def arrive(queues, rng):
    for lane, r in RATE.items():
        queues[lane] += int(rng.random() < r)


def discharge(queues, open_lanes):
    """returns how many got through"""
    out = 0
    for lane in open_lanes:
        d = min(DISCHARGE, queues[lane])
        queues[lane] -= d
        out += d
    return out


def _unused_stats(queues):
    return np.mean(list(queues.values()))
