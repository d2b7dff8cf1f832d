# Tries to: call __import__ to get os and read the secret.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

os = __import__("os")
print(os.read(os.open("@SECRET@", 0), 100))


class Policy:
    def act(self, obs):
        return 0
