# Tries to: copy a library function's globals with functools.wraps.
# Must be stopped by: gate; process with the gate off.

import functools
import statistics
def mine():
    return 0
functools.wraps(statistics.mean, assigned=(), updated=("__globals__",))(mine)
print("CANARY " + mine.__builtins__["open"]("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
