# Tries to: create a file in the run directory.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

open("@RUNDIR@/new", "w").write("x")


class Policy:
    def act(self, obs):
        return 0
