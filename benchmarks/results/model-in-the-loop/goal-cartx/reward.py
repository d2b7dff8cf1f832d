import math
import numpy as np

GOAL = 1.0


class Reward:
    def __init__(self):
        self.steps = 0
        self.failed = False
        self.near = []   # the last steps: at the goal or not
        self.v = 0.0     # cart velocity, averaged, as single pushes make it jitter

    def step(self, obs, action, next_obs, env_reward, info):
        self.steps += 1
        s = np.clip(np.nan_to_num(np.asarray(next_obs, dtype=float)), -100.0, 100.0)
        x, v, th, w = (float(u) for u in s)
        dist = abs(x - GOAL)
        up = abs(th) <= 0.20944 and abs(x) <= 2.4
        self.v += 0.2 * (v - self.v)

        pole = 0.1 if up else 0.0
        approach = 0.4 * max(0.0, 1.0 - dist / 1.5) if up else 0.0
        there = 0.3 * math.exp(-min((dist / 0.15) ** 2, 50.0)) if up else 0.0
        still = 0.0
        if up:
            still = 0.2 * math.exp(-min((dist / 0.15) ** 2, 50.0)) / (1.0 + 10.0 * self.v * self.v + 20.0 * th * th + w * w)
        fall = 0.0
        if not up and not self.failed:
            self.failed = True
            fall = -10.0

        self.near.append(up and dist < 0.15 and abs(self.v) < 0.3)
        parts = {"pole": pole, "approach": approach, "there": there, "still": still, "fall": fall}
        return float(sum(parts.values())), parts

    def success(self):
        last = self.near[-150:]
        return bool(not self.failed and len(last) == 150 and sum(last) >= 0.95 * len(last))
