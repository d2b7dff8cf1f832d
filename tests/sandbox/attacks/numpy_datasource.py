# Tries to: open a file or an address with DataSource.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.lib.npyio.DataSource().open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
