# Tries to: import the sandbox's own guest code and patch its loop.
# Must be stopped by: gate; with the gate off only this guest is hurt: process.

import promptpo_sandbox.guest.loop as loop
loop.Guest.serve = lambda self: None
loop.admit = None


class Policy:
    def act(self, obs):
        return 0
