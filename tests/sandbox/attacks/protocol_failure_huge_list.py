# Tries to: send a failure that announces a list of billions.
# Must be stopped by: host: every byte from the guest is checked.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        os.write(3, chunk(34, 1, b'l\xff\xff\xff\x7f'))
        return 0
