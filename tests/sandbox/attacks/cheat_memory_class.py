# Tries to: remember across episodes in a class attribute.
# Must be stopped by: guest: a fresh module for each episode.

class Policy:
    seen = 0
    def __init__(self):
        Policy.seen += 1
        if Policy.seen > 1:
            print("CANARY memory")
    def act(self, obs):
        return 0
