# Tries to: an action that is an endless sequence.
# Must be stopped by: step deadline; rlimits.

class E:
    def __len__(self):
        return 10**9
    def __getitem__(self, i):
        return i
class Policy:
    def act(self, obs):
        return E()
