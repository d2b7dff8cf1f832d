# Tries to: read the host's environment from /proc.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print("CANARY" + open("/proc/@HOSTPID@/environ").read())


class Policy:
    def act(self, obs):
        return 0
