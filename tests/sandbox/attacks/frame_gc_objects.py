# Tries to: look for the environment among all objects.
# Must be stopped by: process: the environment is not in this process.

import gc
for item in gc.get_objects():
    if type(item).__name__ == "CanaryEnv":
        item.state[:] = 99
        print("CANARY reached")


class Policy:
    def act(self, obs):
        return 0
