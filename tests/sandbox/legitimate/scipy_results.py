# Style: scipy's optimisers, integrators, rotations and distributions.
import numpy as np
from scipy import optimize
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation as R
from scipy.stats import norm


class Policy:
    def __init__(self):
        result = minimize(lambda x: float(np.sum((x - 1) ** 2)), np.zeros(2), method="Nelder-Mead", options={"maxiter": 30})
        self.best = result.x if result.success else np.ones(2)
        self.root = optimize.brentq(lambda x: x - 0.25, 0.0, 1.0)

    def act(self, obs):
        solution = solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], max_step=0.5)
        end = solution.y[0, -1]
        turned = R.from_euler("z", 90, degrees=True).apply([1.0, 0.0, 0.0])
        chance = norm.cdf(obs[0], loc=0.0, scale=2.0)
        return int(end + turned[1] + self.best.sum() + self.root + chance > 1.0)
