# Tries to: raise the recursion limit and overflow the C stack.
# Must be stopped by: gate; with the gate off: at worst this guest dies.

import sys
sys.setrecursionlimit(10**9)
def f(n):
    return f(n + 1)
class Policy:
    def act(self, obs):
        return f(0)
