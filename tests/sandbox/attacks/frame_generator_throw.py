# Tries to: throw into a generator and use the traceback.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

def g():
    try:
        yield
    except ValueError as e:
        yield e.__traceback__
it = g()
next(it)
tb = it.throw(ValueError)
print(tb.tb_frame.f_globals["__builtins__"].open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
