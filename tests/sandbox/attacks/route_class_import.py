# Tries to: read a file with a module that an import in a class body makes an attribute.
# Must be stopped by: gate; files are out of reach of the process.

class Names:
    def __init__(self):
        self.kit = self.fromfile = 0


class Tools:
    import numpy as kit


class Policy:
    def act(self, obs):
        print(Tools.kit.fromfile("@SECRET@", dtype="u1").tobytes().decode())
        return 0
