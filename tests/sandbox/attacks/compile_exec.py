# Tries to: compile text and exec it.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

exec(compile("print(open('@SECRET@').read())", "x", "exec"))


class Policy:
    def act(self, obs):
        return 0
