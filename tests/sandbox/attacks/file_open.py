# Tries to: open the secret.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
