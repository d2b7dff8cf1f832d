# Tries to: raise GeneratorExit in the constructor.
# Must be stopped by: guest: caught and reported.

class Policy:
    def __init__(self):
        raise GeneratorExit
    def act(self, obs):
        return 0
