# Tries to: a pattern that backtracks forever.
# Must be stopped by: gate; step deadline.

class Policy:
    def act(self, obs):
        import re
        return len(re.match('(a+)+$', 'a' * 40 + 'b').group())
