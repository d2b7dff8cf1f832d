"""Errors of the sandbox itself; failures of policies are returned as values, never raised.

::

    SandboxError
    ├── SandboxUnavailableError    this system lacks a layer, and weaker protection was not accepted
    ├── SandboxBrokenError         the parent process of guests did not start or has died
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
    """Observations or actions of this space cannot be passed between host and guest."""


UnsupportedSpaceError = SpaceBorderError
"""Public alias of `SpaceBorderError`; promptpo has an error of its own by this name, which its users see instead."""
