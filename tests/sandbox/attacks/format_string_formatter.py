# Tries to: string.Formatter().format does the same walk.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import string
def f():
    pass
print(string.Formatter().format("{0.__globals__}", f))
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
