# Tries to: hide the walk in a lambda in a comprehension.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print([(lambda k: k.__subclasses__())(t) for t in [object]])
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
