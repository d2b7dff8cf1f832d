# Tries to: create a file in the current directory.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

open("left-behind", "w").write("x")


class Policy:
    def act(self, obs):
        return 0
