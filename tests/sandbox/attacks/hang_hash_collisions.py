# Tries to: insert keys that collide.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        class K:
            def __hash__(self):
                return 1
            def __eq__(self, other):
                return False
        d = {K(): 1 for _ in range(10**6)}
        return 0
