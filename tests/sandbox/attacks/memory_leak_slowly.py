# Tries to: keep every observation a thousand times.
# Must be stopped by: rlimits; step deadline.

class Policy:
    def act(self, obs):
        self.x = getattr(self, 'x', [])
        self.x.append([obs.copy() for _ in range(200000)])
        return 0
