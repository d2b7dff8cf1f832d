# Tries to: remember across episodes in a module.
# Must be stopped by: gate; with the gate off it is only this guest's module: process.

import math
if math.__doc__ == "seen":
    print("memory")
type(math).__init__(math, "math", "seen")


class Policy:
    def act(self, obs):
        return 0
