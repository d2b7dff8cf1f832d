# Style: all comprehensions, nested and conditional.

class Policy:
    def act(self, obs):
        sq = [v * v for v in obs if v > 0]
        d = {i: v for i, v in enumerate(obs)}
        s = {round(float(v), 1) for v in obs}
        g = sum(a * b for a in (1, 2) for b in (3, 4) if a != b)
        return (len(sq) + len(d) + len(s) + g) % 3
