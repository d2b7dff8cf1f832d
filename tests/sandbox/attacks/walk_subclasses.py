# Tries to: walk from a tuple to every class and use a loader to read the secret.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

for kind in ().__class__.__base__.__subclasses__():
    if kind.__name__ == "FileLoader":
        print(kind("x", "@SECRET@").get_data("@SECRET@"))


class Policy:
    def act(self, obs):
        return 0
