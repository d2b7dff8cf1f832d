# Tries to: call open after a comprehension had a variable of that name.
# Must be stopped by: gate; files are out of reach of the process.

names = [open for open in ["x"]]
print("CANARY " + open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
