# Style: Counter, defaultdict, OrderedDict.

import numpy as np
from collections import Counter, OrderedDict, defaultdict


class Policy:
    def __init__(self):
        self.seen = Counter()
        self.by = defaultdict(list)
        self.order = OrderedDict()

    def act(self, obs):
        self.seen[tuple(np.sign(obs))] += 1
        self.by[obs[0] > 0].append(1)
        self.order['a'] = 1
        self.order.move_to_end('a')
        best, n = self.seen.most_common(1)[0]
        return (n + len(self.by)) % 3
