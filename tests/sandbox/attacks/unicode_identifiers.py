# Tries to: write dunder names in look-alike letters that Python normalises.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

print(().__clᵃss__)
print(ᵒᵖᵉᵗ("@SECRET@").read())
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
