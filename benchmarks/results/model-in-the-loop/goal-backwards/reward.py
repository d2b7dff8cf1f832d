import math


def finite(value, default=0.0):
    value = float(value)
    return value if math.isfinite(value) else default


class Reward:
    FREE = 0.6    # rad of pitch that a gallop may use at no cost
    OVER = 1.3    # rad of pitch from which no backward speed is paid
    TURNED = 1.57  # rad from which it counts as turned over
    TOP = 20.0    # m/s, bound of the paid speed

    def __init__(self):
        self.steps = 0
        self.distance = 0.0  # sum of backward speeds
        self.turned = False

    def step(self, obs, action, next_obs, env_reward, info):
        """What one step earns, called after each step."""
        self.steps += 1
        velocity = finite(info.get("x_velocity", 0.0))
        back = max(-self.TOP, min(self.TOP, -velocity))
        tilt = abs(finite(next_obs[1], 10.0))  # unwrapped: a full turn does not make it upright again

        upright = (self.OVER - tilt) / (self.OVER - self.FREE)
        upright = max(0.0, min(1.0, upright))
        # backward speed counts only as far as it is upright; forward speed always costs
        speed = back * upright if back > 0.0 else back

        # from 0 at FREE to -1 at TURNED, at most -2
        lean = -min(2.0, max(0.0, (tilt - self.FREE) / (self.TURNED - self.FREE)))

        turned_over = 0.0
        if tilt > self.TURNED:
            turned_over = -1.0
            self.turned = True

        self.distance += back
        parts = {"backward_speed": speed, "lean": lean, "turned_over": turned_over}
        return speed + lean + turned_over, parts

    def success(self):
        """Whether it ran backwards fast, on average over the episode, and never turned over."""
        return bool(self.steps > 0 and not self.turned and self.distance / self.steps >= 4.0)
