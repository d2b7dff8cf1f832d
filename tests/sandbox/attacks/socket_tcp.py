# Tries to: connect to a listening port on this machine.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import socket
s = socket.create_connection(("127.0.0.1", int("@PORT@")), 1)
s.send(b"leak")


class Policy:
    def act(self, obs):
        return 0
