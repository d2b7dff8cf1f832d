# Tries to: return a list that contains itself.
# Must be stopped by: guest and host: checked against the action space.

x = []
x.append(x)
class Policy:
    def act(self, obs):
        return x
