# Tries to: look for keys in the environment.
# Must be stopped by: environment: it is empty.

import os
print(dict(os.environ))


class Policy:
    def act(self, obs):
        return 0
