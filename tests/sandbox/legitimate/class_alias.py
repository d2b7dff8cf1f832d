# Style: Policy as another name of a class.

class Controller:
    def act(self, obs):
        return 1


Policy = Controller
