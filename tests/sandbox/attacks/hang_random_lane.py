# Tries to: hang in some episodes only.
# Must be stopped by: step deadline; the other episodes run again.

import random
class Policy:
    def __init__(self):
        self.bad = random.random() < 0.5
    def act(self, obs):
        while self.bad:
            pass
        return 0
