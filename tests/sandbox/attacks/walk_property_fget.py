# Tries to: take a function out of a property of a library class.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.random.Generator.bit_generator)
import fractions
print(fractions.Fraction.numerator.fget.__globals__["__builtins__"]["open"]("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
