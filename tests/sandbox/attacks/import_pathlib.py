# Tries to: read with pathlib.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

from pathlib import Path
print(Path("@SECRET@").read_text())


class Policy:
    def act(self, obs):
        return 0
