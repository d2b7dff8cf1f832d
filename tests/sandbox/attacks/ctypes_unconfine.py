# Tries to: undo the confinement with prctl and setrlimit.
# Must be stopped by: seccomp.

import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(22, 0) == 0 or libc.prctl(38, 0, 0, 0, 0) == 0:
    print("CANARY prctl")
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print("CANARY setrlimit")


class Policy:
    def act(self, obs):
        return 0
