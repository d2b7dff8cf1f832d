# Style: a module that may be missing, exceptions of its own, retries, finally.
try:
    import scipy
    import scipy.linalg
except ImportError:
    scipy = None

import numpy as np


class PlanError(ValueError):
    def __init__(self, message, cost=0.0):
        super().__init__(message)
        self.cost = cost


class Policy:
    def _plan(self, obs):
        if scipy is not None:
            return float(scipy.linalg.norm(obs))
        raise PlanError("no plan", cost=float(np.abs(obs).sum()))

    def act(self, obs):
        tries = 0
        try:
            value = self._plan(obs)
        except PlanError as error:
            value = error.cost + len(str(error)) + len(error.args)
        except (ValueError, ArithmeticError):
            raise
        else:
            value += 0.0
        finally:
            tries += 1
        with np.errstate(all="ignore"):
            value = np.float64(value) / np.float64(tries)
        return int(value > 1)
