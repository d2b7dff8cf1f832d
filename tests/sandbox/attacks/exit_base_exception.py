# Tries to: an exception class of its own, outside Exception.
# Must be stopped by: guest: caught and reported.

class Leave(BaseException):
    def __str__(self):
        raise self
class Policy:
    def act(self, obs):
        raise Leave
