# Tries to: remember across episodes on the function that an error of numpy names.
# Must be stopped by: guest: an attribute is stored in objects of the program's own classes alone.

import numpy as np


def shared():
    try:
        np.add(np.array(["a"]), 1)
    except TypeError as error:
        return error.args[0]


class Policy:
    def act(self, obs):
        memory = shared()
        memory.tally = getattr(memory, "tally", 0) + 1
        return min(2, memory.tally // 12)
