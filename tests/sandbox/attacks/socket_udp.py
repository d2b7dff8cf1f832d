# Tries to: send a datagram.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"leak", ("127.0.0.1", int("@PORT@")))
print("CANARY sent")


class Policy:
    def act(self, obs):
        return 0
