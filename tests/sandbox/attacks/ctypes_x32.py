# Tries to: use the x32 numbering to slip past a filter.
# Must be stopped by: seccomp (kills the process).

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(0x40000000 + 2, b"@SECRET@", 0) >= 0:
    print("CANARY x32")


class Policy:
    def act(self, obs):
        return 0
