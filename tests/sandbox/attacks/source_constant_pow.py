# Tries to: a constant power chain for the compiler to fold.
# Must be stopped by: construct deadline.

x = 9 ** 9 ** 9 ** 9


class Policy:
    def act(self, obs):
        return 0
