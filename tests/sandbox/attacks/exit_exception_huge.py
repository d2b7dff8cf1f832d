# Tries to: an exception with gigabytes of text.
# Must be stopped by: guest: the text is cut; rlimits.

class Policy:
    def act(self, obs):
        raise ValueError("x" * 10**8)
