# Tries to: call open where a method has the same name.
# Must be stopped by: gate; files are out of reach of the process.

class Own:
    def open(self):
        return 1
print("CANARY " + open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
