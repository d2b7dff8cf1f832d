# Tries to: call eval through star arguments.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print(*map(eval, ["open('@SECRET@').read()"]))


class Policy:
    def act(self, obs):
        return 0
