# Tries to: abort in the middle of an episode.
# Must be stopped by: host: the end of a pipe is a failed policy.

import os
class Policy:
    def act(self, obs):
        os.abort()
