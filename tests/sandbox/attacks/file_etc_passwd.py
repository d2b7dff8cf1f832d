# Tries to: read the system's users.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print("CANARY" + open("/etc/passwd").read())


class Policy:
    def act(self, obs):
        return 0
