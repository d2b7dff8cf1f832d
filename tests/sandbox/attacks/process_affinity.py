# Tries to: leave the core it was given.
# Must be stopped by: seccomp.

import os
os.sched_setaffinity(0, range(os.cpu_count()))
print("CANARY affinity")


class Policy:
    def act(self, obs):
        return 0
