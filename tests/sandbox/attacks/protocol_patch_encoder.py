# Tries to: replace the guest's own encoder.
# Must be stopped by: host: every byte from the guest is checked.

import promptpo_sandbox.guest.batches as b
import struct
b.DiscreteBatch._encoded = lambda self: struct.pack('<q', 10**6) * len(self.pending)


class Policy:
    def act(self, obs):
        return 0
