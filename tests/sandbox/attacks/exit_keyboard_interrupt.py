# Tries to: raise KeyboardInterrupt at import.
# Must be stopped by: guest: caught and reported.

raise KeyboardInterrupt


class Policy:
    def act(self, obs):
        return 0
