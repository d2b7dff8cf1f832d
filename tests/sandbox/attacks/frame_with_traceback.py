# Tries to: forge a traceback with with_traceback.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

e = ValueError()
try:
    raise e
except ValueError as f:
    print(f.with_traceback(None).__context__)
    print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
