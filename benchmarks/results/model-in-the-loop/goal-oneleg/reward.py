import math
import numpy as np

RADIUS = 0.06     # of the feet
CLEAR = 0.15      # metres under the raised foot that count as clearly off the ground
EPISODE_STEPS = 1000


def foot_clearance(z, torso, thigh, leg, foot):
    """Metres between the ground and the lowest point of a foot."""
    a_thigh = torso - thigh
    a_leg = a_thigh - leg
    a_foot = a_leg - foot
    ankle = z - 0.2 * math.cos(torso) - 0.45 * math.cos(a_thigh) - 0.5 * math.cos(a_leg)
    toe = ankle - 0.2 * math.sin(a_foot)
    return min(ankle, toe) - RADIUS


def clip01(v):
    return max(0.0, min(1.0, v))


class Reward:
    def __init__(self):
        self.steps = 0
        self.side = None      # the foot that stands: 0 right, 1 left
        self.streak = 0.0     # steps on this foot, less some for each step that was not
        self.good = 0         # steps in a row that fulfil the goal
        self.best_good = 0
        self.far = 0.0

    def step(self, obs, action, next_obs, env_reward, info):
        self.steps += 1
        o = np.clip(np.nan_to_num(np.asarray(next_obs, dtype=float), nan=0.0, posinf=50.0, neginf=-50.0), -50.0, 50.0)
        a = np.clip(np.nan_to_num(np.asarray(action, dtype=float), nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)
        x = float(np.clip(np.nan_to_num(float(info.get("x_position", 0.0))), -100.0, 100.0))
        z, torso = float(o[0]), float(o[1])
        right = foot_clearance(z, torso, float(o[2]), float(o[3]), float(o[4]))
        left = foot_clearance(z, torso, float(o[5]), float(o[6]), float(o[7]))

        side = 0 if right <= left else 1
        low, high = min(right, left), max(right, left)
        contact = clip01(1.0 - (low - 0.02) / 0.05)
        lift = clip01(high / CLEAR)
        one = contact * lift

        # the same leg all the time: a change of legs starts anew
        if one > 0.4:
            if side != self.side:
                self.side = side
                self.streak = 0.0
                self.good = 0
            self.streak = min(self.streak + 1.0, 150.0)
        else:
            self.streak = max(0.0, self.streak - 3.0)

        distance = abs(x)
        self.far = max(self.far, distance)
        near = math.exp(-(max(0.0, distance - 0.15) / 0.35) ** 2)
        upright = clip01(1.0 - max(0.0, abs(torso) - 0.1) / 0.9)
        calm = 1.0 / (1.0 + (o[8] / 0.4) ** 2 + (o[9] / 0.4) ** 2 + (o[10] / 1.5) ** 2)
        held = 0.5 + 0.5 * self.streak / 150.0

        if contact > 0.2 and high >= 0.1 and distance < 0.5:
            self.good += 1
            self.best_good = max(self.best_good, self.good)
        else:
            self.good = 0

        share = one * (0.5 + 0.5 * upright)
        parts = {
            "one_leg": float(1.0 * share * held * (0.3 + 0.7 * near)),
            "at_start": float(0.4 * near * (0.1 + 0.9 * one)),
            "still": float(0.3 * calm * (0.1 + 0.9 * one)),
            "upright": float(0.15 * upright),
            "effort": float(-0.03 * np.mean(a ** 2)),
        }
        return float(sum(parts.values())), parts

    def success(self):
        # 600 steps are 4.8 s on one leg in a row, in an episode without a fall
        return bool(self.steps >= EPISODE_STEPS and self.best_good >= 600 and self.far < 0.6)
