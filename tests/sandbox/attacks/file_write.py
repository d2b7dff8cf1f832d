# Tries to: overwrite the secret.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

open("@SECRET@", "w").write("gone")


class Policy:
    def act(self, obs):
        return 0
