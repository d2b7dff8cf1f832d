# Tries to: a match pattern reads dunder attributes without naming them in an expression.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

match ():
    case object(__class__=c):
        print(c.__base__.__subclasses__())
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
