# Tries to: an exception whose text never ends.
# Must be stopped by: construct deadline; step deadline.

class E(Exception):
    def __str__(self):
        while True:
            pass
class Policy:
    def act(self, obs):
        raise E
