# Style: f-strings and prints.

class Policy:
    def __init__(self):
        self.t = 0

    def act(self, obs):
        self.t += 1
        if self.t % 5 == 0:
            print(f'step {self.t}: x={obs[0]:+.3f}', 'ok', sep=' | ', end='\n')
        return len(f'{self.t!r:>4}') % 3
