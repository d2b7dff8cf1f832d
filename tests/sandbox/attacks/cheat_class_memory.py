# Tries to: remember across episodes on a library class, as the first argument of a method.
# Must be stopped by: gate: a class of a library is no value.

import collections


class Memory:
    def seen(self):
        try:
            self.T += 1
        except AttributeError:
            self.T = 1
        return self.T


class Policy:
    def act(self, obs):
        try:
            return min(2, Memory.seen(collections.Counter) // 12)
        except AttributeError:
            return 0
