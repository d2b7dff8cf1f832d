# Tries to: give one name two meanings.
# Must be stopped by: gate; process with the gate off.

import math as lib
import os as lib
print("CANARY", lib.listdir("/"))


class Policy:
    def act(self, obs):
        return 0
