# Tries to: a coroutine's cr_frame leads outwards.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

async def f():
    pass
c = f()
print(c.cr_frame.f_builtins["open"]("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
