# Tries to: apply_along_axis hands out its frames.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
def f(x):
    raise ValueError
try:
    np.apply_along_axis(f, 0, np.ones(3))
except ValueError as e:
    print(e.__traceback__.tb_next.tb_frame.f_globals["__builtins__"]["open"]("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
