# Style: a tree of nodes that point to each other.

class Node:
    def __init__(self, state, parent=None):
        self.state, self.parent, self.children = state, parent, []
        self.visits = 0


class Policy:
    def act(self, obs):
        root = Node(0)
        for i in range(1, 5):
            child = Node(i, root)
            root.children.append(child)
            root = child
        depth = 0
        while root.parent is not None:
            root = root.parent
            depth += 1
        root.parent = None
        return depth % 3
