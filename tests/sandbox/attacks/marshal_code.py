# Tries to: load code from marshalled bytes.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import marshal, types
code = compile("print(open('@SECRET@').read())", "x", "exec")
exec(marshal.loads(marshal.dumps(code)))


class Policy:
    def act(self, obs):
        return 0
