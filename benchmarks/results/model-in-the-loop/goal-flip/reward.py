import math
import numpy as np

FULL = 2.0 * math.pi


class Reward:
    def __init__(self):
        self.steps = 0
        self.top = 0.0        # largest forward angle so far
        self.over = 0.0       # largest turn beyond the one that was asked for
        self.back = 0.0       # largest backward turn before
        self.held = 0         # consecutive steps on the feet after the turn
        self.best_held = 0
        self.angle = 0.0

    def step(self, obs, action, next_obs, env_reward, info):
        self.steps += 1
        s = np.clip(np.nan_to_num(np.asarray(next_obs, dtype=float)), -1e3, 1e3)
        z, angle = float(s[0]), float(s[1])
        vx, vz, w = float(s[8]), float(s[9]), float(s[10])
        self.angle = angle

        # turning over forward: positive angle (z turns towards x); new ground only, so rocking pays once
        new_top = max(self.top, min(angle, FULL))
        turn = 60.0 * (new_top - self.top) / FULL
        self.top = new_top

        # turning further than once, or backwards first: paid back, bounded
        new_over = max(self.over, min(max(angle - FULL - 0.8, 0.0), 2.0 * math.pi))
        new_back = max(self.back, min(max(-angle - 0.8, 0.0), math.pi))
        wrong = -15.0 * (new_over - self.over) - 3.0 * (new_back - self.back)
        self.over, self.back = new_over, new_back

        # on the feet after the one turn
        land = 0.0
        calm_part = 0.0
        turned = self.top >= FULL - 0.5 and self.over < math.pi - 0.8
        on_feet = False
        if turned:
            d = angle - FULL
            up = math.exp(-min((d / 0.6) ** 2, 50.0))
            height = min(max((z + 0.40) / 0.25, 0.0), 1.0)
            calm = 1.0 / (1.0 + 0.3 * (vx * vx + vz * vz) + 0.1 * w * w)
            land = 0.12 * up * height
            calm_part = 0.08 * up * height * calm
            on_feet = abs(d) < 0.6 and -0.3 < z < 0.25 and abs(vz) < 1.0 and abs(w) < 3.0
        self.held = self.held + 1 if on_feet else 0
        self.best_held = max(self.best_held, self.held)

        parts = {"turn": turn, "wrong_turn": wrong, "on_feet": land, "calm": calm_part}
        return float(sum(parts.values())), parts

    def success(self):
        once = self.top >= FULL - 0.5 and self.over < math.pi - 0.8
        return bool(once and self.best_held >= 10 and abs(self.angle - FULL) < 0.8)
