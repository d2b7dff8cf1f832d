# Tries to: leave work for the interpreter's end.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import atexit
atexit.register(lambda: print(open("@SECRET@").read()))
raise SystemExit


class Policy:
    def act(self, obs):
        return 0
