# Tries to: a nested f-string expression walks attributes.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print(f"{().__class__.__base__.__subclasses__()!r:.100}")
print(f"{open('@SECRET@').read()}")


class Policy:
    def act(self, obs):
        return 0
