# Tries to: call quit().
# Must be stopped by: gate; guest: caught and reported.

quit()


class Policy:
    def act(self, obs):
        return 0
