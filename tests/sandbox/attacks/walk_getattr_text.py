# Tries to: spell a dunder in pieces for getattr.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

cls = getattr((), "__cl" + "ass__")
subs = getattr(getattr(cls, "__ba" + "se__"), "__subcl" + "asses__")()
for k in subs:
    if getattr(k, "__name__") == "FileLoader":
        print(k("x", "@SECRET@").get_data("@SECRET@"))


class Policy:
    def act(self, obs):
        return 0
