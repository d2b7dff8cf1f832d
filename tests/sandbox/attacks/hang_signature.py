# Tries to: a Policy whose class attribute lookup never ends.
# Must be stopped by: construct deadline.

class Meta:
    def __call__(self):
        while True:
            pass
class Policy:
    act = property(lambda self: Meta()())
