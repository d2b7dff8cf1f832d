# Tries to: define __format__ that returns no text.
# Must be stopped by: guest: reported as a crash.

class A:
    def __format__(self, spec):
        return 5
class Policy:
    def act(self, obs):
        return len(f"{A()}")
