# Tries to: loop forever and swallow every exception.
# Must be stopped by: step deadline.

class Policy:
    def act(self, obs):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
