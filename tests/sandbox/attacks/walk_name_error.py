# Tries to: NameError suggestions hold a name; use its traceback's globals.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

try:
    missing
except NameError as e:
    print(e.__traceback__.tb_frame.f_globals["__builtins__"].open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
