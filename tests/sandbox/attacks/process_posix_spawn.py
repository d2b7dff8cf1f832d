# Tries to: spawn a program.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
print("CANARY", os.posix_spawn("/bin/cat", ["cat", "@SECRET@"], {}))


class Policy:
    def act(self, obs):
        return 0
