# Tries to: an expression of twenty thousand terms is a deep tree.
# Must be stopped by: source limits; else the guest's recursion limit.

x = @PLUS@1


class Policy:
    def act(self, obs):
        return 0
