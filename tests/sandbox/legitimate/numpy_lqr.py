# Style: a Riccati iteration for an LQR gain.

import numpy as np


def dlqr(A, B, Q, R, steps=200):
    P = Q.copy()
    for _ in range(steps):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    return K


class Policy:
    def __init__(self):
        A = np.array([[1, 0.1], [0, 1]])
        B = np.array([[0.005], [0.1]])
        self.K = dlqr(A, B, np.eye(2), np.eye(1))

    def act(self, obs):
        u = float(-(self.K @ obs[:2])[0])
        return 2 if u > 0 else 0
