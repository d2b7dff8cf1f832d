# Tries to: escape the package with a relative import.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

from . import guest
print(guest)


class Policy:
    def act(self, obs):
        return 0
