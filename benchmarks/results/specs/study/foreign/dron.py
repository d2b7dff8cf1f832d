import gymnasium as gym
import numpy as np


class Dron(gym.Env):
    """
    Un dron de reparto en una calle recta.

    Observación: [posición, velocidad, batería, viento]
    Acción: empuje entre -1 y 1.
    Recompensa: acercarse al poste 30 y parar allí.
    """

    dt = 0.2

    def __init__(self):
        self.observation_space = gym.spaces.Box(low=np.array([-50, -20, 0, -3], np.float32), high=np.array([50, 20, 1, 3], np.float32))
        self.action_space = gym.spaces.Box(-1, 1, (1,))

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.v, self.bat = 0.0, 0.0, 1.0
        self.w = np.random.uniform(-2, 2)
        self.k = 0
        return self._o(), {}

    def _o(self):
        return np.array([self.x, self.v, self.bat, self.w], np.float32)

    def step(self, action):
        u = float(np.clip(action[0], -1, 1))
        for _ in range(4):
            self.v += self.dt / 4 * (6 * u + self.w - 0.3 * self.v)
            self.x += self.dt / 4 * self.v
        self.bat -= 0.002 + 0.004 * abs(u)
        self.w = float(np.clip(self.w + np.random.normal(0, 0.1), -3, 3))
        self.k += 1
        d = abs(self.x - 30)
        r = -0.01 * d
        llegado = d < 0.5 and abs(self.v) < 0.3
        if llegado:
            r += 20 * self.bat
        # sin batería se cae
        caido = self.bat <= 0
        if caido:
            r -= 10
        return self._o(), r, bool(llegado or caido), self.k >= 400, {}
