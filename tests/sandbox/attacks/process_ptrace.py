# Tries to: attach to the host.
# Must be stopped by: seccomp.

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, int("@HOSTPID@"), 0, 0) == 0:
    print("CANARY attached")


class Policy:
    def act(self, obs):
        return 0
