# Tries to: set a dunder through self.__dict__.update.
# Must be stopped by: gate; the name is checked when it runs; with the gate off nothing is gained.

class Policy:
    def __init__(self):
        self.__dict__.update({"__class__": int})
        self.__dict__.update({"act": lambda obs: print(open("@SECRET@").read())})
    def act(self, obs):
        return 0
