# Tries to: write a file by a name that is its own attribute too.
# Must be stopped by: gate; files are out of reach of the process.

import numpy as np
class Own:
    def tofile(self, where):
        return where
np.frombuffer(b"CANARY", dtype=np.uint8).tofile("@RUNDIR@/written")


class Policy:
    def act(self, obs):
        return 0
