# Tries to: two megabytes of source.
# Must be stopped by: source limits.

x = [@ONES@]


class Policy:
    def act(self, obs):
        return 0
