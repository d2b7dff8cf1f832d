# Style: copies.

import copy


class Policy:
    def __init__(self):
        self.template = {'a': []}
        self.plan = None

    def act(self, obs):
        self.plan = copy.deepcopy(self.template)
        self.plan['a'].append(1)
        return (len(self.template['a']) + len(copy.copy(self.plan)['a'])) % 3
