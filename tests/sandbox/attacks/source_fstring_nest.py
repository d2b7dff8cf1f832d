# Tries to: f-strings nested in f-strings.
# Must be stopped by: the parser's own limit.

x = f"{f'{f"{1}"}'}"


class Policy:
    def act(self, obs):
        return 0
