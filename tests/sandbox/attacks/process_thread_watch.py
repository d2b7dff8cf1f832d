# Tries to: start a thread that goes on after act returned.
# Must be stopped by: seccomp.

import _thread
def spin():
    while True:
        pass
_thread.start_new_thread(spin, ())
print("CANARY thread")


class Policy:
    def act(self, obs):
        return 0
