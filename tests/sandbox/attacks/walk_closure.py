# Tries to: read a closure cell of a library function.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import functools
@functools.lru_cache
def f(x):
    return x
print(f.__wrapped__.__globals__["__builtins__"].open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
