# Tries to: reach the observations of other lanes with the constructor that super() finds for a class.
# Must be stopped by: gate; observations have memory of their own.

class Layout:
    def __init__(self, strides=None):
        if strides is not None:
            self.strides = strides


class Policy(Layout):
    @staticmethod
    def lend(kind, array):
        super().__init__(array, (16,))

    def act(self, obs):
        try:
            self.lend(Policy, obs)
            print("CANARY", obs[2:])
        except ValueError:
            pass
        return 0
