# Tries to: loop forever.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        while True:
            pass
