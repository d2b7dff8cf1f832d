# Tries to: remember across episodes in a module-level list.
# Must be stopped by: guest: a fresh module for each episode.

SEEN = []
class Policy:
    def __init__(self):
        SEEN.append(1)
        if len(SEEN) > 1:
            print("CANARY memory")
    def act(self, obs):
        return 0
