# Tries to: start a program through subprocess.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

from subprocess import check_output
print(check_output(["cat", "@SECRET@"]))


class Policy:
    def act(self, obs):
        return 0
