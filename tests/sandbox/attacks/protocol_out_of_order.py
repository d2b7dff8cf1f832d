# Tries to: send READY where an action is due.
# Must be stopped by: host: every byte from the guest is checked.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        os.write(3, chunk(32, 1))
        return 0
