"""Landlock with no exceptions: no file may be opened, no TCP port used, no process outside signalled.

See the kernel's Documentation/userspace-api/landlock.rst; each version of its interface knows more rights.
"""

from __future__ import annotations

import ctypes

_CREATE_RULESET_VERSION = 1
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many of the file-system rights (bit 0 upwards) each version knows; later ones know as many as 5."""


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


def version(libc: ctypes.CDLL, number: int) -> int:
    """The interface's version; 0 where the kernel has none or it is switched off.

    Args:
        libc: The C library.
        number: The system call's number.
    """
    return max(0, int(libc.syscall(number, None, 0, _CREATE_RULESET_VERSION)))


def restrict(libc: ctypes.CDLL, number: int) -> None:
    """Deny everything that Landlock can deny.

    Raises:
        OSError: The kernel has no Landlock or refuses.
    """
    abi = version(libc, number)
    if not abi:
        raise OSError(ctypes.get_errno(), "Landlock is not available")
    rules = _Ruleset(
        handled_access_fs=(1 << _FILE_RIGHTS_BY_VERSION.get(abi, 16)) - 1,
        handled_access_net=0b11 if abi >= 4 else 0,  # noqa: PLR2004
        scoped=0b11 if abi >= 6 else 0,  # noqa: PLR2004
    )
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8  # noqa: PLR2004
    descriptor = libc.syscall(number, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "Landlock refuses the rules")
    if libc.syscall(number + 2, descriptor, 0) != 0:
        raise OSError(ctypes.get_errno(), "Landlock cannot be applied")
