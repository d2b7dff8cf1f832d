# Tries to: print an object whose text is endless.
# Must be stopped by: rlimits; step deadline.

class E:
    def __str__(self):
        return "x" * 10**9
class Policy:
    def act(self, obs):
        print(E(), E(), sep=str(E()))
        return 0
