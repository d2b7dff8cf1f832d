# Tries to: print a million lines.
# Must be stopped by: output limit; step deadline.

class Policy:
    def act(self, obs):
        for i in range(10**5):
            print(i)
        return 0
