# Tries to: invoke system calls by number: execve, ptrace, mount.
# Must be stopped by: seccomp.

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in (59, 101, 165, 272, 56, 57, 41, 2, 257, 322, 435, 62, 200, 234, 310, 311, 321):
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    if result >= 0:
        print("CANARY allowed", number)


class Policy:
    def act(self, obs):
        return 0
