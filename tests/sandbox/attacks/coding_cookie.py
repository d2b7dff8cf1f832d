# Tries to: hide code behind an encoding declaration.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

# -*- coding: utf-7 -*-
+AGkAbQBwAG8AcgB0- os


class Policy:
    def act(self, obs):
        return 0
