"""One clock swings every joint around a middle, and the thighs answer to the pitch of the trunk.

A sine and a cosine per joint stand for amplitude and phase, because a phase has an end at which search gets
stuck. The legs start in opposition, a bound; stiffness and damping are the same for all joints.
"""

import math

STEP = 0.05
"""Seconds."""

PARAMS = {
    "frequency": (3.0, 1.0, 6.0),
    "stiffness": (2.0, 0.3, 6.0),
    "damping": (0.08, 0.0, 0.4),
    "bthigh_middle": (0.0, -1.0, 1.0),
    "bthigh_sine": (0.7, -1.5, 1.5),
    "bthigh_cosine": (0.0, -1.5, 1.5),
    "bshin_middle": (0.0, -1.0, 1.0),
    "bshin_sine": (0.1, -1.5, 1.5),
    "bshin_cosine": (-0.5, -1.5, 1.5),
    "bfoot_middle": (0.0, -1.0, 1.0),
    "bfoot_sine": (0.3, -1.5, 1.5),
    "bfoot_cosine": (-0.4, -1.5, 1.5),
    "fthigh_middle": (0.0, -1.0, 1.0),
    "fthigh_sine": (-0.5, -1.5, 1.5),
    "fthigh_cosine": (0.4, -1.5, 1.5),
    "fshin_middle": (0.0, -1.0, 1.0),
    "fshin_sine": (0.3, -1.5, 1.5),
    "fshin_cosine": (0.5, -1.5, 1.5),
    "ffoot_middle": (0.0, -1.0, 1.0),
    "ffoot_sine": (0.1, -1.5, 1.5),
    "ffoot_cosine": (0.4, -1.5, 1.5),
    "bthigh_pitch": (0.0, -2.0, 2.0),
    "bthigh_rate": (0.0, -0.4, 0.4),
    "fthigh_pitch": (0.0, -2.0, 2.0),
    "fthigh_rate": (0.0, -0.4, 0.4),
}

JOINTS = ("bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot")


class Policy:
    def __init__(self, params):
        self.params = params
        self.reset()

    def reset(self):
        self.phase = 0.0

    def act(self, obs):
        p = self.params
        pitch, rate = float(obs[1]), float(obs[10])
        s, c = math.sin(self.phase), math.cos(self.phase)
        self.phase += 2.0 * math.pi * p["frequency"] * STEP
        torques = []
        for i, joint in enumerate(JOINTS):
            angle, speed = float(obs[2 + i]), float(obs[11 + i])
            goal = p[joint + "_middle"] + p[joint + "_sine"] * s + p[joint + "_cosine"] * c
            torque = p["stiffness"] * (goal - angle) - p["damping"] * speed
            if joint.endswith("thigh"):
                torque += p[joint + "_pitch"] * pitch + p[joint + "_rate"] * rate
            torques.append(max(-1.0, min(1.0, torque)))
        return torques
