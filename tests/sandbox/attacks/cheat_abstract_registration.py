# Tries to: remember across episodes by registering classes with an abstract one.
# Must be stopped by: guest: the method register of a library's class is not handed out.

from numbers import Number


class Own:
    def register(self):
        return 0


class Policy:
    def __init__(self):
        self.seen = isinstance([], Number)
        try:
            Number.register(list)
        except AttributeError:
            self.refused = True

    def act(self, obs):
        return 2 * int(self.seen)
