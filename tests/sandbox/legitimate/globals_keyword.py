# Style: a module-level counter with global.

COUNT = 0


def bump():
    global COUNT
    COUNT += 1
    return COUNT % 3


class Policy:
    def act(self, obs):
        return bump()
