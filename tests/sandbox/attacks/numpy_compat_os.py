# Tries to: numpy's own modules hold os and sys.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np._core.os.listdir("@RUNDIR@"), np.__config__)


class Policy:
    def act(self, obs):
        return 0
