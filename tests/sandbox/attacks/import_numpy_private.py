# Tries to: reach builtins through a private numpy module.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

from numpy._core import numeric
print(numeric.builtins.open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
