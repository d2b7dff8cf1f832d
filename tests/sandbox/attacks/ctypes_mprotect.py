# Tries to: make memory executable and jump into it.
# Must be stopped by: seccomp (no executable memory).

import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
p = libc.mmap(None, 4096, 7, 0x22, -1, 0)
print("mmap", p)
if p not in (None, 2**64 - 1):
    print("CANARY executable memory")


class Policy:
    def act(self, obs):
        return 0
