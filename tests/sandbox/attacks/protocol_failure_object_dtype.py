# Tries to: send an array of object dtype.
# Must be stopped by: host: every byte from the guest is checked.

import os, struct
def chunk(kind, count, data=b'', flags=0, length=None):
    return struct.pack('<BBHI', kind, flags, count, len(data) if length is None else length) + data
class Policy:
    def act(self, obs):
        os.write(3, chunk(34, 1, b'a\x03\x01' + struct.pack('<Q', 1) + b'|O8' + b'\0' * 8))
        return 0
