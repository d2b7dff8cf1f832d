# Tries to: return an int whose comparison lies.
# Must be stopped by: guest and host: checked against the action space.

class E(int):
    def __le__(self, other):
        return True
    __ge__ = __lt__ = __gt__ = __eq__ = __le__
    def __index__(self):
        return 99
    def __int__(self):
        return 99
    def __hash__(self):
        return 0
class Policy:
    def act(self, obs):
        return E(5)
