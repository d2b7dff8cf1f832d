# Style: a Kalman filter.

import numpy as np


class Policy:
    def __init__(self):
        self.F = np.array([[1.0, 0.1], [0.0, 1.0]])
        self.H = np.array([[1.0, 0.0]])
        self.x = np.zeros(2)
        self.P = np.eye(2)

    def act(self, obs):
        z = obs[:1]
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + 0.01 * np.eye(2)
        S = self.H @ self.P @ self.H.T + 0.1
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + (K @ (z - self.H @ self.x)).ravel()
        self.P = (np.eye(2) - K @ self.H) @ self.P
        return int(self.x[0] > 0)
