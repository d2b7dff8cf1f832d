# Tries to: run the attack in a default argument.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

def f(x=__import__("os").listdir("@RUNDIR@")):
    return x
print(f())


class Policy:
    def act(self, obs):
        return 0
