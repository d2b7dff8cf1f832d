# Tries to: raise SystemExit.
# Must be stopped by: guest: caught and reported.

class Policy:
    def act(self, obs):
        raise SystemExit(0)
