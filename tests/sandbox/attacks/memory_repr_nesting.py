# Tries to: a list nested so deeply that showing it exhausts the stack.
# Must be stopped by: guest: the text of an action is guarded.

class Policy:
    def act(self, obs):
        x = []
        for _ in range(10**5):
            x = [x]
        return x
