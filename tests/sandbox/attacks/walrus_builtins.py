# Tries to: overwrite builtins with a walrus.
# Must be stopped by: gate; with the gate off only this guest is hurt: process.

[(__builtins__ := {"open": 1}) for _ in (0,)]
import builtins
builtins.isinstance = lambda *a: True


class Policy:
    def act(self, obs):
        return 0
