# Tries to: climb the mro of an array type.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
base = np.zeros(1).__class__.__mro__[-1]
print([k for k in base.__subclasses__() if "wrap_close" in k.__name__][0].__init__.__globals__["popen"]("cat @SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
