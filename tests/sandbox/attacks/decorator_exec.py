# Tries to: a decorator that is exec itself.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

@exec
@input
class X:
    pass


class Policy:
    def act(self, obs):
        return 0
