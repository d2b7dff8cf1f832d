"""A caterpillar of three blocks on a slope, moved by brakes and two linear drives."""

import gymnasium as gym
import numpy as np


class Inchworm(gym.Env):
    """Three blocks in a row on an incline, joined by two linear drives; each block can press a brake pad on the ground.

    The blocks have no wheels: the body gets on by pushing a block forward while the others hold on. The incline is drawn anew in
    each episode. The reward is the distance of the middle block along the incline in metres, times ten, less the drives' work and
    the brakes' wear. An episode lasts 400 control steps of 0.05 s and ends early if two blocks collide or a drive is torn.
    """

    metadata = {"render_modes": []}
    MASS = np.array([1.2, 2.0, 1.2])  # kg, rear to front
    GRAVITY = 9.81  # m/s2
    SLIDING = 0.12  # friction coefficient of a block with its brake released
    GRIP = 0.9  # what a brake adds when it is pressed fully
    DRIVE = 14.0  # N at full action
    DAMPING = 3.0  # N s/m in a drive
    BRAKE_LAG = 0.08  # s
    SHORT, LONG = 0.15, 0.75  # m: the ends of a drive
    SUBSTEPS, DT = 10, 0.005  # s

    def __init__(self):
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (9,), np.float64)
        self.action_space = gym.spaces.Box(
            np.array([-1.0, -1.0, 0.0, 0.0, 0.0], np.float32), np.ones(5, np.float32), dtype=np.float32
        )

    def _observe(self):
        """Lengths and speeds of the rear and front drive, speed of the middle block, three brakes' pressure, incline in radians."""
        lengths, rates = np.diff(self.x), np.diff(self.v)
        return np.concatenate([lengths, rates, [self.v[1]], self.brake, [self.incline]])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.incline = self.np_random.uniform(-0.05, 0.15)
        self.x = np.array([0.0, 0.45, 0.9]) + self.np_random.uniform(-0.05, 0.05, 3)
        self.v = np.zeros(3)
        self.brake = np.ones(3)
        self.time = 0
        return self._observe(), {}

    def step(self, action):
        action = np.clip(np.asarray(action, float), self.action_space.low, self.action_space.high)
        drives, pads = action[:2], action[2:]
        before, work = self.x[1], 0.0
        weight = self.MASS * self.GRAVITY
        for _ in range(self.SUBSTEPS):
            self.brake += (pads - self.brake) * self.DT / self.BRAKE_LAG
            push = self.DRIVE * drives - self.DAMPING * np.diff(self.v)
            force = -weight * np.sin(self.incline)
            force[0] -= push[0]
            force[1] += push[0] - push[1]
            force[2] += push[1]
            friction = (self.SLIDING + self.GRIP * self.brake) * weight * np.cos(self.incline)
            moving = self.v + force / self.MASS * self.DT
            held = friction / self.MASS * self.DT
            self.v = np.sign(moving) * np.maximum(np.abs(moving) - held, 0.0)
            self.x = self.x + self.v * self.DT
            work += np.abs(self.DRIVE * drives * np.diff(self.v)).sum() * self.DT
        self.time += 1
        lengths = np.diff(self.x)
        torn = bool((lengths < self.SHORT).any() or (lengths > self.LONG).any())
        reward = 10.0 * (self.x[1] - before) - 0.05 * work - 0.01 * float(np.square(pads).sum()) - 5.0 * torn
        return self._observe(), float(reward), torn, self.time >= 400, {}
