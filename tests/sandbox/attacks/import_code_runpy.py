# Tries to: run another file with runpy.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import runpy
print(runpy.run_path("@SECRET@"))


class Policy:
    def act(self, obs):
        return 0
