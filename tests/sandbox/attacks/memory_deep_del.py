# Tries to: build a chain that overflows the stack when it is freed.
# Must be stopped by: process: at worst this guest dies.

class N:
    def __init__(self, n):
        self.next = n
class Policy:
    def act(self, obs):
        n = None
        for _ in range(10**6):
            n = N(n)
        n = None
        return 0
