# Style: angles and wrapping.

import math


class Policy:
    def __init__(self):
        self.target = math.radians(30)

    def act(self, obs):
        def wrap(a):
            return (a + math.pi) % (2 * math.pi) - math.pi

        angle = math.atan2(obs[1], obs[0])
        error = wrap(angle - self.target)
        return 0 if error < -0.1 else 2 if error > 0.1 else 1
