# Tries to: reach the observations of other lanes with a method that a decorator keeps.
# Must be stopped by: gate; observations have memory of their own.

KEPT = []


class Policy:
    @KEPT.append
    def lay(self, strides):
        self.strides = strides

    def act(self, obs):
        try:
            KEPT[0](obs, (16,))
            print("CANARY", obs[2:])
        except ValueError:
            pass
        return 0
