# Tries to: import builtins and use the real open.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import builtins
print(builtins.open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
