# Tries to: return an object whose repr never ends.
# Must be stopped by: step deadline.

class E:
    def __repr__(self):
        while True:
            pass
class Policy:
    def act(self, obs):
        return E()
