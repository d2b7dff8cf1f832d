# Tries to: make a namespace of its own to become root.
# Must be stopped by: seccomp.

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0:
    print("CANARY namespace")


class Policy:
    def act(self, obs):
        return 0
