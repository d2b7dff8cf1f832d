# Tries to: return an object with __array__ that runs code.
# Must be stopped by: gate; guest: caught and reported.

class E:
    def __array__(self, *a, **k):
        raise SystemExit
    def __index__(self):
        raise KeyboardInterrupt
class Policy:
    def act(self, obs):
        return E()
