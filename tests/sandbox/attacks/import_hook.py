# Tries to: install an import hook that would answer later imports.
# Must be stopped by: gate; with the gate off only this guest is hurt: process.

import sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        raise SystemExit(3)
sys.meta_path.insert(0, Finder)
sys.modules.clear()


class Policy:
    def act(self, obs):
        return 0
