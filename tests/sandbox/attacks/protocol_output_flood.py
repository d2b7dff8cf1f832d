# Tries to: send gigabytes of forged output.
# Must be stopped by: host: every byte from the guest is checked; output limit; step deadline.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        [os.write(3, chunk(35, 0, b'x' * 60000)) for _ in range(20000)]
        return 0
