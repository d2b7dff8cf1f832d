# Style: str.format of a literal.

class Policy:
    def act(self, obs):
        return len('{:.2f} {name}'.format(obs[0], name='x')) % 3
