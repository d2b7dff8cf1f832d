# Tries to: fetch an address.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

from urllib.request import urlopen
print(urlopen("http://127.0.0.1:@PORT@/").read())


class Policy:
    def act(self, obs):
        return 0
