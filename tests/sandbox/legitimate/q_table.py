# Style: a table in a dictionary.

class Policy:
    def __init__(self):
        self.table = {(0, 0, 0, 0): 0, (1, 1, 1, 1): 2}

    def act(self, obs):
        key = tuple(int(v > 0) for v in obs)
        return self.table.get(key, 1)
