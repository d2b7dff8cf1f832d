# Tries to: return an object whose pickling would run a command in the host.
# Must be stopped by: wire format: no pickle.

class E:
    def __reduce__(self):
        return print, ("CANARY",)
    def __reduce_ex__(self, n):
        return print, ("CANARY",)
class Policy:
    def act(self, obs):
        return E()
