# Tries to: share memory with other processes.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

from multiprocessing import shared_memory
m = shared_memory.SharedMemory(create=True, size=10)
print("CANARY shm")


class Policy:
    def act(self, obs):
        return 0
