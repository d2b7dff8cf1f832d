# Tries to: write to the real standard error.
# Must be stopped by: gate; descriptors; seccomp.

import sys, os
sys.__stderr__.write("CANARY" * 10)
os.write(2, b"CANARY")


class Policy:
    def act(self, obs):
        return 0
