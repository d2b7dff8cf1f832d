# Tries to: let get_type_hints evaluate an annotation.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import typing
def f(x: "open('@SECRET@').read()"):
    pass
print(typing.get_type_hints(f, {}, {}))


class Policy:
    def act(self, obs):
        return 0
