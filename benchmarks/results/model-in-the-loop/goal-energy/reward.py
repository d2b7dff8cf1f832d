import math
import numpy as np

TARGET = 1.0


class Reward:
    def __init__(self):
        self.steps = 0
        self.v = 0.0          # forward speed, averaged
        self.fallen = False
        self.lead = 0         # which thigh is in front
        self.since = 10 ** 6  # steps since the legs last changed places
        self.swaps = 0
        self.dist = 0.0
        self.counted = 0
        self.effort = 0.0

    def step(self, obs, action, next_obs, env_reward, info):
        self.steps += 1
        s = np.clip(np.nan_to_num(np.asarray(next_obs, dtype=float)), -1e3, 1e3)
        a = np.clip(np.nan_to_num(np.asarray(action, dtype=float)), -1.0, 1.0)
        v = float(info.get("x_velocity", s[8]))
        v = min(max(v, -10.0), 10.0) if math.isfinite(v) else 0.0
        healthy = 0.8 < s[0] < 2.0 and abs(s[1]) < 1.0

        # speed: 0 at standstill, 1 at 1 m/s, 0 again at 2 m/s
        self.v += (v - self.v) / 50.0
        close = max(0.0, 1.0 - abs(self.v - TARGET) / TARGET)
        speed = 1.0 * close if healthy else 0.0

        # effort: torque squared and joint power, both about 0..1; saving it pays only while walking
        torque = float(np.mean(a * a))
        power = float(np.mean(np.abs(a * np.clip(s[11:17], -10.0, 10.0)))) / 5.0
        effort = min(torque / 0.25, 1.0) * 0.6 + min(power, 1.0) * 0.4
        saving = 0.6 * close * (1.0 - effort) if healthy else 0.0

        # walking: the thighs change places
        d = float(s[2] - s[5])
        lead = 1 if d > 0.1 else (-1 if d < -0.1 else self.lead)
        self.since += 1
        if lead != self.lead:
            if self.lead != 0:
                self.swaps += 1
                self.since = 0
            self.lead = lead
        gait = 0.2 * close if healthy and self.since < 100 else 0.0

        # staying up
        alive = 0.05 if healthy else 0.0
        fall = 0.0
        if not healthy and not self.fallen:
            fall = -10.0
            self.fallen = True

        if self.steps > 100:
            self.dist += v
            self.counted += 1
            self.effort += torque

        parts = {"speed": speed, "saving": saving, "gait": gait, "alive": alive, "fall": fall}
        return float(sum(parts.values())), parts

    def success(self):
        if self.fallen or self.counted < 300:
            return False
        mean_v = self.dist / self.counted
        return bool(abs(mean_v - TARGET) < 0.2 and self.swaps >= 6 and self.effort / self.counted < 0.3)
