# Tries to: a thousand nested lambdas.
# Must be stopped by: source limits.

x = @LAMBDAS@0


class Policy:
    def act(self, obs):
        return 0
