# Tries to: a null character in the source.
# Must be stopped by: source limits.

x = '@NULL@'


class Policy:
    def act(self, obs):
        return 0
