# Style: fields of other objects with common names.

class Node:
    def __init__(self, state, path, end):
        self.state, self.path, self.end, self.reason = state, path, end, "search"


class Policy:
    def act(self, obs):
        nodes = [Node(obs * k, (k,), k > 1) for k in range(3)]
        best = max(nodes, key=lambda node: float(node.state[0]))
        return int(best.path[0] > 0 and best.end and best.reason == "search")
