# Tries to: be handed a type by a comparison.
# Must be stopped by: gate; process with the gate off.

import numpy as np
class Taker:
    def __eq__(self, other):
        self.got = other
        return True
taker = Taker()
np.ndarray == taker
print("forged", taker.got((1,), dtype=object, buffer=bytes(8)))


class Policy:
    def act(self, obs):
        return 0
