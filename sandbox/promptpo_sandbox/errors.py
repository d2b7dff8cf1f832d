"""Errors of the sandbox's surroundings; a policy's faults are values, never exceptions.

::

    SandboxError
    ├── SandboxUnavailableError    a layer is missing here and nobody accepted that
    ├── SandboxBrokenError         the guest's parent process cannot be started or died
    └── SpaceBorderError           a space that cannot cross the border (also a ValueError)
"""

from __future__ import annotations


class SandboxError(Exception):
    """Root of this package's errors."""


class SandboxUnavailableError(SandboxError):
    """This system lacks layers of protection."""


class SandboxBrokenError(SandboxError):
    """The process that guests are forked from cannot be used."""


class SpaceBorderError(SandboxError, ValueError):
    """Observations or actions of this space cannot cross the border."""


UnsupportedSpaceError = SpaceBorderError
"""Its name for who uses this package alone; promptpo has an error of this name, which its users meet instead."""
