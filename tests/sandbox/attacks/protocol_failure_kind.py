# Tries to: claim a failure kind that does not exist.
# Must be stopped by: host: every byte from the guest is checked.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        os.write(3, chunk(34, 1, b't\x03\x00\x00\x00' + b's\x04\x00\x00\x00evil' + b's\x00\x00\x00\x00' * 2))
        return 0
