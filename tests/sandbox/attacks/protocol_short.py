# Tries to: send half a header and wait.
# Must be stopped by: host: every byte from the guest is checked; step deadline.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        os.write(3, b'\x21')
        while True: pass
        return 0
