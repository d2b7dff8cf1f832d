# Style: walrus, star unpacking, chained comparison.

class Policy:
    def act(self, obs):
        first, *rest, last = obs
        if (n := len(rest)) == 2 and -1e3 <= first <= 1e3:
            a, (b, c) = 1, (2, 3)
            return (n + a + b + c) % 3
        return 0
