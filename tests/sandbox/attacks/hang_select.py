# Tries to: wait for input that never comes.
# Must be stopped by: gate; seccomp; step deadline.

class Policy:
    def act(self, obs):
        import select
        select.select([0], [], [], 1000)
        return 0
