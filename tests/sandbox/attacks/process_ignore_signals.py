# Tries to: ignore every signal, to survive the deadline.
# Must be stopped by: step deadline (SIGKILL cannot be ignored).

import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
class Policy:
    def act(self, obs):
        while True:
            pass
