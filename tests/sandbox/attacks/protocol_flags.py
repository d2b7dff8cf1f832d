# Tries to: set reserved flags.
# Must be stopped by: host: every byte from the guest is checked.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        os.write(3, chunk(33, 1, struct.pack('<q', 1), flags=7))
        return 0
