# Tries to: use descriptors that were left open.
# Must be stopped by: descriptors: there are none.

import os
for number in range(4, 200):  # 0 and 3 are the protocol's, 1 and 2 lead nowhere
    try:
        os.fstat(number)
    except OSError:
        continue
    print("CANARY descriptor", number)


class Policy:
    def act(self, obs):
        return 0
