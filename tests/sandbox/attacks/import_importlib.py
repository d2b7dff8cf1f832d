# Tries to: load a module by name through importlib.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import importlib
io = importlib.import_module("io")
print(io.open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
