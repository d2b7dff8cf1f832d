# Tries to: the random module holds os as _os.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import random
print(random._os.popen("cat @SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
