# Tries to: let sqlite create a file.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import sqlite3
sqlite3.connect("@RUNDIR@/db").execute("create table t(x)")


class Policy:
    def act(self, obs):
        return 0
