# Style: own attributes that arrays have too.

class Node:
    def __init__(self, data):
        self.data = data
        self.layout = 'plain'
        self.load = 0


class Policy:
    def __init__(self):
        self.data = []
        self.base = 0.0
        self.flags = {}
        self.view = ''
        self.offset = 0
        self.code = lambda: 1

    def act(self, obs):
        self.data.append(float(obs[0]))
        self.base = self.data[-1]
        self.flags['seen'] = True
        self.view = 'front'
        self.offset += 1
        node = Node(self.base)
        node.data = 3
        return (node.data + len(self.data) + self.offset + self.code()) % 3
