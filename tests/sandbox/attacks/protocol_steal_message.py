# Tries to: read the host's next message away.
# Must be stopped by: host: every byte from the guest is checked; step deadline.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        os.read(0, 1)
        return 0
