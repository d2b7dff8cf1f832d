# Tries to: an exception's traceback leads to frames.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

try:
    1 / 0
except ZeroDivisionError as e:
    frame = e.__traceback__.tb_frame
    while frame:
        print(frame.f_locals)
        frame = frame.f_back
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
