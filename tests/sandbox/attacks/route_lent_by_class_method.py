# Tries to: reach the observations of other lanes with a method that a class method reads from its class.
# Must be stopped by: gate; observations have memory of their own.

class Policy:
    def lay(self, strides):
        self.strides = strides

    @classmethod
    def lend(cls, array):
        cls.lay(array, (16,))

    def act(self, obs):
        try:
            self.lend(obs)
            print("CANARY", obs[2:])
        except ValueError:
            pass
        return 0
