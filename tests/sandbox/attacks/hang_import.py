# Tries to: loop forever when the module is loaded.
# Must be stopped by: construct deadline.

while True:
    pass


class Policy:
    def act(self, obs):
        return 0
