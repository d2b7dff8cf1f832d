# Tries to: declare __builtins__ global and replace it.
# Must be stopped by: gate; with the gate off only this guest is hurt: process.

def f():
    global __builtins__
    __builtins__ = {}
f()
import builtins
builtins.zip = None
builtins.len = None


class Policy:
    def act(self, obs):
        return 0
