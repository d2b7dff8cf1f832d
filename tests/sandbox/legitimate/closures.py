# Style: closures with nonlocal.

def make():
    n = 0

    def step(x):
        nonlocal n
        n += 1 if x > 0 else 2
        return n % 3

    return step


class Policy:
    def __init__(self):
        self.step = make()

    def act(self, obs):
        return self.step(obs[0])
