# Tries to: behave differently by the clock.
# Must be stopped by: gate.

import time
class Policy:
    def act(self, obs):
        return int(time.time()) % 2
