# Tries to: remember across episodes in the cache of typing, which compares keys by methods of ours.
# Must be stopped by: gate: typing is for annotations.

from typing import Union


class Key:
    def __init__(self):
        self.seen = 0

    def __hash__(self):
        return 7

    def __eq__(self, other):
        if isinstance(other, Key):
            other.seen += 1
            self.seen = other.seen
        return True


class Policy:
    def act(self, obs):
        key = Key()
        Union[key, int]
        return min(2, key.seen)
