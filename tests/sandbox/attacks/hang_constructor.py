# Tries to: loop forever in the constructor.
# Must be stopped by: construct deadline.

class Policy:
    def __init__(self):
        while True:
            pass
    def act(self, obs):
        return 0
