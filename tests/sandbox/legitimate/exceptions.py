# Style: try, finally, raise and an exception class.

class Stuck(RuntimeError):
    pass


class Policy:
    def __init__(self):
        self.n = 0

    def act(self, obs):
        try:
            if obs[0] < 0:
                raise Stuck('negative')
            x = 1 / 0
        except Stuck as e:
            return len(str(e)) % 3
        except (ZeroDivisionError, ValueError):
            return 2
        finally:
            self.n += 1
