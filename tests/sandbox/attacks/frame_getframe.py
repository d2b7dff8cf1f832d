# Tries to: sys._getframe walks to the guest's own frames.
# Must be stopped by: gate; with the gate off only this guest is hurt: process.

import sys
frame = sys._getframe()
while frame.f_back:
    frame = frame.f_back
print(sorted(frame.f_globals))
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
