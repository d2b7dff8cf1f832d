# Style: a __main__ block that is not run.

def helper():
    return 1


if __name__ == '__main__':
    helper()


class Policy:
    def act(self, obs):
        return 1
