# Tries to: import os only in the tenth step, after an innocent start.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class Policy:
    def __init__(self):
        self.n = 0
    def act(self, obs):
        self.n += 1
        if self.n == 10:
            import os
            print(os.popen("cat @SECRET@").read())
        return 0
