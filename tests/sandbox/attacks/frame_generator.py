# Tries to: a generator's gi_frame leads outwards.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

def g():
    yield
    print(it.gi_frame.f_back.f_back.f_builtins["open"]("@SECRET@").read())
    yield
it = g()
next(it)
next(it)


class Policy:
    def act(self, obs):
        return 0
