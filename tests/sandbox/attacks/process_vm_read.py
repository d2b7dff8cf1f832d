# Tries to: read the host's memory with process_vm_readv.
# Must be stopped by: seccomp.

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.process_vm_readv(int("@HOSTPID@"), 0, 0, 0, 0, 0) == 0:
    print("CANARY vm")


class Policy:
    def act(self, obs):
        return 0
