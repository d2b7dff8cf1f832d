"""The gate: a check of the syntax tree that decides, before anything runs, what a policy may say.

It is hygiene and good error messages, not the wall: the wall is the process and the kernel.
"""

from sandbox.gate.check import Rejected, admit, check

__all__ = ["Rejected", "admit", "check"]
