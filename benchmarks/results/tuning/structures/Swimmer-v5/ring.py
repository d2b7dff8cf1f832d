"""Two joints in a ring: each is driven by where the other one is, so that the body finds its own rhythm.

Joint 2 follows joint 1 and joint 1 flees from joint 2. A delay is all such a loop needs to oscillate, and the
joints' own inertia is that delay; the lag between them is what makes a travelling wave. Turning is a bias of
both joints against a slow mean of the body's heading.
"""

import math

PARAMS = {
    "follow": (1.0, 0.0, 2.0),
    "self1": (-0.3, -1.0, 1.0),
    "self2": (-0.3, -1.0, 1.0),
    "turn": (0.3, 0.0, 1.0),
}

SHARP = 10.0  # nearly all or nothing: a swimmer wants full strokes


class Policy:
    def __init__(self, params):
        self.p = params
        self.reset()

    def reset(self):
        self.heading = 0.0

    def act(self, obs):
        p = self.p
        nose, q1, q2 = [float(value) for value in obs[:3]]
        self.heading += 0.03 * (nose + (2.0 * q1 + q2) / 3.0 - self.heading)
        # a body at rest in a straight line must be pushed once
        u1 = -q2 + p["self1"] * q1 - p["turn"] * self.heading + 0.01
        u2 = p["follow"] * q1 + p["self2"] * q2 - p["turn"] * self.heading
        return [math.tanh(SHARP * u1), math.tanh(SHARP * u2)]
