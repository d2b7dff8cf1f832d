# Tries to: dataclasses imports inspect, which imports os.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import dataclasses
print(dataclasses.inspect.os.popen("cat @SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
