# Tries to: except* hands out an exception group.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

try:
    raise ExceptionGroup("x", [ValueError()])
except* ValueError as group:
    print(group.__traceback__.tb_frame.f_builtins["open"]("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
