# Style: local variables with the names of builtins.
def nearest(input, id=0):
    dir = 1 if input[0] > 0 else -1
    vars = [dir * x for x in input]
    return vars[id]


class Policy:
    def __init__(self):
        self.id = 3
        self.input = None

    def act(self, obs):
        self.input = obs
        ids = [id for id in range(self.id) if id >= 0]
        help = {id: nearest(obs, id) for id in ids}
        exit = min(help, key=lambda id: help[id])
        return exit
