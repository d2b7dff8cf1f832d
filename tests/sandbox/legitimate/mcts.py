# Style: Monte Carlo tree search over a toy model.

import math
import random


class Node:
    def __init__(self, action=None):
        self.action = action
        self.children = []
        self.visits = 0
        self.value = 0.0

    def visit(self, value):
        self.visits += 1
        self.value += value

    def ucb(self, total):
        if self.visits == 0:
            return math.inf
        return self.value / self.visits + 1.4 * math.sqrt(math.log(total + 1) / self.visits)


class Policy:
    def __init__(self):
        self.rng = random.Random(0)

    def act(self, obs):
        root = Node()
        for _ in range(30):
            node, path = root, [root]
            while node.children:
                node = max(node.children, key=lambda c: c.ucb(node.visits))
                path.append(node)
            if node.visits > 0 and len(path) < 5:
                node.children = [Node(a) for a in range(3)]
                node = node.children[0]
                path.append(node)
            value = self.rng.random() + (node.action == 1)
            for n in reversed(path):
                n.visit(value)
        return max(root.children, key=lambda c: c.visits).action
