# Tries to: eval as a decorator on a lambda-like class.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

@eval
@(lambda c: "open('@SECRET@').read()")
class leak:
    pass
print(leak)


class Policy:
    def act(self, obs):
        return 0
