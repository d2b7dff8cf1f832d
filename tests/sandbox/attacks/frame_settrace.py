# Tries to: install a trace function that watches the guest.
# Must be stopped by: gate; with the gate off only this guest is hurt: process.

import sys
def trace(frame, event, arg):
    frame.f_globals["READ"] = 5
    return trace
sys.settrace(trace)
sys.setprofile(trace)


class Policy:
    def act(self, obs):
        return 0
