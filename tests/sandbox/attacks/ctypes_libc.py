# Tries to: call libc directly.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import ctypes
libc = ctypes.CDLL(None)
fd = libc.open(b"@SECRET@", 0)
buf = ctypes.create_string_buffer(100)
libc.read(fd, buf, 100)
print(buf.value)


class Policy:
    def act(self, obs):
        return 0
