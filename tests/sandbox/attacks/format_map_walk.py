# Tries to: format_map with a dictionary of functions.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

def f():
    pass
print("{f.__code__.co_consts}".format_map({"f": f}))
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
