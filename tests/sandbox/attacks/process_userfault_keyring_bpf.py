# Tries to: keyrings, bpf, perf events and userfaultfd.
# Must be stopped by: seccomp.

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in (248, 250, 321, 298, 323, 438, 434, 424):
    if libc.syscall(number, 0, 0, 0, 0, 0) >= 0:
        print("CANARY", number)


class Policy:
    def act(self, obs):
        return 0
