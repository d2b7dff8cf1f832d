"""The gate: a check of the syntax tree that decides, before anything runs, what a program may contain.

It teaches models the contract, and stops accidents and cheap tricks; confinement is up to the process and the kernel.
"""

from promptpo_sandbox.gate.check import Rejected, admit

__all__ = ["Rejected", "admit"]
