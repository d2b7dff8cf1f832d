# Tries to: reach the enum module's globals through a method.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import enum
print(enum.Enum.__reduce_ex__.__globals__["sys"].modules["os"].listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
