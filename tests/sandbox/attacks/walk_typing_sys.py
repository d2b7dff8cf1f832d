# Tries to: the typing module holds sys.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import typing
print(typing.sys.modules["os"].environ, typing.sys.modules["os"].listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
