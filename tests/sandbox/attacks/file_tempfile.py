# Tries to: create a temporary file.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import tempfile
print(tempfile.mkstemp())
print("CANARY file")


class Policy:
    def act(self, obs):
        return 0
