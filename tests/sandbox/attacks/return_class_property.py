# Tries to: return an object that lies about its class.
# Must be stopped by: gate; guest and host: checked against the action space.

class E:
    @property
    def __class__(self):
        return int
    def __int__(self):
        return 10**6
class Policy:
    def act(self, obs):
        return E()
