# Style: a vector class with operators.

class Vec:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y)

    def __rmul__(self, k):
        return Vec(k * self.x, k * self.y)

    def __truediv__(self, o):
        return self.x * o.x + self.y * o.y

    def __eq__(self, o):
        return (self.x, self.y) == (o.x, o.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.x
        yield self.y

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __repr__(self):
        return f"Vec({self.x:.2f}, {self.y:.2f})"


class Policy:
    def act(self, obs):
        v = Vec(obs[0], obs[1]) + 0.5 * Vec(1, 0) - Vec(0, 1)
        return int(v / v > 1) + int(v == Vec(0, 0)) + (len(v) - 2)
