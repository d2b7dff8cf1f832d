# Tries to: remember across episodes in a mutable default.
# Must be stopped by: guest: a fresh module for each episode.

class Policy:
    def __init__(self, seen=[]):
        seen = list(seen) if isinstance(seen, dict) else seen
        seen.append(1)
        if len(seen) > 1:
            print("CANARY memory")
    def act(self, obs):
        return 0
