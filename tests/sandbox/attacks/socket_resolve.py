# Tries to: resolve a name.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import socket
print("CANARY", socket.gethostbyname("localhost"))


class Policy:
    def act(self, obs):
        return 0
