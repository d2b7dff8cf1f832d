# Tries to: np.vectorize over eval.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.vectorize(eval)(np.array(["open('@SECRET@').read()"])))


class Policy:
    def act(self, obs):
        return 0
