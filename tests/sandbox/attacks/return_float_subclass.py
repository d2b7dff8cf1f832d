# Tries to: return a float that says it is whole.
# Must be stopped by: guest and host: checked against the action space.

class E(float):
    def is_integer(self):
        return True
    def __int__(self):
        return 10**30
class Policy:
    def act(self, obs):
        return E(0.5)
