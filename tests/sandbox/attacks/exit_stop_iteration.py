# Tries to: raise StopIteration into the guest's loops.
# Must be stopped by: guest: caught and reported.

class Policy:
    def act(self, obs):
        raise StopIteration
