# Tries to: connect to an abstract unix socket.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import socket
s = socket.socket(socket.AF_UNIX)
print("CANARY socket")
s.connect("\0sandbox-core-0")


class Policy:
    def act(self, obs):
        return 0
