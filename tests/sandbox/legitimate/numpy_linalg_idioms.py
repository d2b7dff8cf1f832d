# Style: matrices, norms, decompositions.
import numpy as np
from numpy import linalg as LA
from numpy.linalg import norm, solve


class Policy:
    def __init__(self):
        self.A = np.eye(4) + 0.1 * np.ones((4, 4))
        self.P = np.diag([1.0, 2.0, 3.0, 4.0])
        self.integrate = np.trapezoid

    def act(self, obs: np.ndarray) -> int:
        obs = np.asarray(obs, dtype=np.float64).reshape(-1)
        x = solve(self.A, obs)
        values, vectors = np.linalg.eigh(self.A)
        u, s, vt = LA.svd(self.A)
        try:
            gain = np.linalg.inv(self.P) @ self.A
        except np.linalg.LinAlgError as error:
            print(f"singular: {error}")
            gain = np.zeros_like(self.A)
        area = self.integrate(x)
        out = gain.T @ x + vectors.sum(axis=0) * values.max() + vt[0] * s[0] + u[:, 0]
        clipped = np.clip(out, -1.0, 1.0)
        return int(clipped.argmax()) % 3 + int(norm(x) > 100.0 + area) * 0
