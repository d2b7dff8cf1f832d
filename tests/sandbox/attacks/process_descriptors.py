# Tries to: use descriptors that were left open.
# Must be stopped by: descriptors: there are none.

import os
for number in range(2, 200):
    try:
        os.fstat(number)
    except OSError:
        continue
    print("CANARY descriptor", number)


class Policy:
    def act(self, obs):
        return 0
