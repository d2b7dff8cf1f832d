# Tries to: define the names of guard functions, to be called instead of them.
# Must be stopped by: gate: guards have names that are no identifiers.

def _getattr_(obj, name):
    return obj
_write_ = _getattr_
_getiter_ = _getattr_
def read(obj, name):
    return open("@SECRET@").read()
class Policy:
    def act(self, obs):
        print(self.data)
        return 0
