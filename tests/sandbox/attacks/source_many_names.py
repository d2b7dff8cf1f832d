# Tries to: thousands of assignments to blow up the symbol table.
# Must be stopped by: source limits.

@NAMES@


class Policy:
    def act(self, obs):
        return 0
