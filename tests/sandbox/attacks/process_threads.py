# Tries to: start threads without end.
# Must be stopped by: seccomp.

import threading, time
for _ in range(10000):
    threading.Thread(target=lambda: time.sleep(100), daemon=True).start()
print("CANARY threads")


class Policy:
    def act(self, obs):
        return 0
