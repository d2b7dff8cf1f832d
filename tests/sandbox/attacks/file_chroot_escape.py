# Tries to: leave the empty root with a second chroot.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
os.mkdir("d")
os.chroot("d")
os.chdir("../../../..")
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
