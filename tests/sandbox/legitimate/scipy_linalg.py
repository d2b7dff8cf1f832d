# Style: scipy.linalg for an LQR gain.

import numpy as np
from scipy.linalg import solve_continuous_are


class Policy:
    def __init__(self):
        A = np.array([[0.0, 1.0], [0.0, 0.0]])
        B = np.array([[0.0], [1.0]])
        P = solve_continuous_are(A, B, np.eye(2), np.eye(1))
        self.K = B.T @ P

    def act(self, obs):
        return int((self.K @ obs[:2])[0] > 0)
