# Tries to: hide format in a variable.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

walk = "{0.__class__.__mro__}".format
print(walk(1))
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
