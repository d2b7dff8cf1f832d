# Tries to: behave for nine steps, then hang.
# Must be stopped by: step deadline.

class Policy:
    def __init__(self):
        self.n = 0
    def act(self, obs):
        self.n += 1
        while self.n > 9:
            pass
        return 0
