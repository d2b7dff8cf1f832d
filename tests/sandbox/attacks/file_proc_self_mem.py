# Tries to: open /proc/self/mem and maps.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print(open("/proc/self/maps").read()[:100])
print("CANARY maps")


class Policy:
    def act(self, obs):
        return 0
