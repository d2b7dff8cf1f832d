# Tries to: sleep.
# Must be stopped by: gate; seccomp; step deadline.

class Policy:
    def act(self, obs):
        import time
        time.sleep(1000)
        return 0
