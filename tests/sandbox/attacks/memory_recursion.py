# Tries to: recurse without end.
# Must be stopped by: the interpreter's recursion limit.

class Policy:
    def act(self, obs):
        def f():
            return f()
        return f()
