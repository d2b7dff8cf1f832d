# Tries to: paths of the installation.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(open(np.get_include() + "/numpy/numpyconfig.h").read(), open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
