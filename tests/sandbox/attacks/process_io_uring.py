# Tries to: use io_uring, which filters often forget.
# Must be stopped by: seccomp.

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 8, 0) >= 0:
    print("CANARY io_uring")


class Policy:
    def act(self, obs):
        return 0
