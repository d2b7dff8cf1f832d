# Tries to: reach the observations of other lanes with a method that is a global name.
# Must be stopped by: gate; observations have memory of their own.

class Layout:
    global lay

    def lay(self, strides):
        self.strides = strides


class Policy:
    def act(self, obs):
        try:
            lay(obs, (16,))
            print("CANARY", obs[2:])
        except ValueError:
            pass
        return 0
