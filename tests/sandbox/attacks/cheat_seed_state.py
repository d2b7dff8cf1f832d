# Tries to: read the seed out of the random generators.
# Must be stopped by: process: generators are seeded with a hash.

import random
import numpy as np
print(random.getstate()[1][:3], np.random.get_state()[1][:3])
class Policy:
    def act(self, obs):
        return int(np.random.get_state()[1][0]) * 0
