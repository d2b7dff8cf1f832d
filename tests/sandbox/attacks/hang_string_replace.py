# Tries to: text operations of quadratic cost.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        s = 'a' * 10**6
        for _ in range(10**6):
            s = s.replace('a', 'b').replace('b', 'a')
        return 0
