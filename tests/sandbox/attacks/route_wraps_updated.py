# Tries to: reach a library module through a partial that wraps returns.
# Must be stopped by: gate: functools.wraps is not there.

from functools import wraps
import statistics


class Policy:
    def act(self, obs):
        def own():
            return 0

        wraps(statistics.mean)(own, assigned=(), updated=("__globals__",))
        return 2 * int("sys" in own.__globals__)
