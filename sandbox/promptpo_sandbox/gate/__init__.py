"""The gate: a check of the syntax tree that decides, before anything runs, what a policy may say.

In the sandbox it is not the wall: that is the process and the kernel. For an exported file it is all there is.
"""

from promptpo_sandbox.gate.check import Rejected, admit

__all__ = ["Rejected", "admit"]
