# Tries to: apply str.format through map.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print(list(map(str.format, ["{0.__class__}"], [1])))
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
