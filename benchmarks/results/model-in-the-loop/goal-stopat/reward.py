import math
import numpy as np

GOAL = 1.0


def clearance(s):
    """Height of the lowest end of the foot above the ground, from the joint angles."""
    t = s[1]
    z = s[0] - 0.2 * math.cos(t)
    t -= s[2]
    z -= 0.45 * math.cos(t)
    t -= s[3]
    z -= 0.5 * math.cos(t)
    t -= s[4]
    heel = z + 0.13 * math.sin(t)
    toe = z - 0.26 * math.sin(t)
    return min(heel, toe) - 0.06


class Reward:
    def __init__(self):
        self.steps = 0
        self.touched = False
        self.hop = 0.0
        self.fallen = False
        self.held = 0

    def step(self, obs, action, next_obs, env_reward, info):
        self.steps += 1
        s = np.clip(np.nan_to_num(np.asarray(next_obs, dtype=float)), -1e3, 1e3)
        x = float(info.get("x_position", 0.0))
        if not math.isfinite(x):
            x = -100.0
        x = min(max(x, -100.0), 100.0)
        dist = abs(x - GOAL)

        healthy = s[0] > 0.7 and abs(s[1]) < 0.2 and bool(np.all(np.abs(s[1:]) < 100.0))

        # where it is: rises all the way from the start to the goal, falls beyond it
        approach = 0.5 * min(max(1.0 - dist, -0.5), 1.0)
        near = math.exp(-min((dist / 0.15) ** 2, 50.0))
        there = 0.5 * near

        # standing still, only there
        speed2 = s[5] ** 2 + s[6] ** 2 + 0.2 * s[7] ** 2 + 0.05 * float(np.sum(s[8:11] ** 2))
        still = 1.0 * near / (1.0 + 5.0 * float(speed2))

        # not falling
        alive = 0.05 if healthy else 0.0
        fall = 0.0
        if not healthy:
            approach = min(approach, 0.0)
            there = 0.0
            still = 0.0
            if not self.fallen:
                fall = -10.0
            self.fallen = True

        # a hop on the way: the foot in the air after it stood on the ground, paid once
        c = clearance(s)
        if c < 0.01:
            self.touched = True
        hop = 0.0
        if self.touched and healthy and x < GOAL:
            new = max(self.hop, min(max(c / 0.04, 0.0), 1.0))
            hop = 5.0 * (new - self.hop)
            self.hop = new

        ok = healthy and dist < 0.15 and math.hypot(float(s[5]), float(s[6])) < 0.15 and abs(float(s[7])) < 0.5
        self.held = self.held + 1 if ok else 0

        parts = {"approach": approach, "there": there, "still": still,
                 "alive": alive, "fall": fall, "hop": hop}
        return float(sum(parts.values())), parts

    def success(self):
        return bool(not self.fallen and self.held >= 100)
