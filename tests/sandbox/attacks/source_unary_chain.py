# Tries to: a chain of a hundred thousand minus signs exhausts the parser's stack.
# Must be stopped by: source limits, before parsing.

x = @MINUS@1


class Policy:
    def act(self, obs):
        return 0
