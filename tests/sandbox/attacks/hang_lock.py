# Tries to: wait for a lock twice.
# Must be stopped by: gate; step deadline.

class Policy:
    def act(self, obs):
        import threading
        l = threading.Lock()
        l.acquire()
        l.acquire()
        return 0
