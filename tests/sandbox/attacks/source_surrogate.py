# Tries to: text that is not valid Unicode.
# Must be stopped by: source limits.

x = '@SURROGATE@'


class Policy:
    def act(self, obs):
        return 0
