# Tries to: take the builtins module from print.__self__.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print(print.__self__.open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
