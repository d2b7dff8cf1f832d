# Tries to: get the metaclass with type(str).
# Must be stopped by: gate; with the gate off: landlock and seccomp.

meta = type(str)
print(meta.__subclasses__(object))
import io
print(io.FileIO("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
