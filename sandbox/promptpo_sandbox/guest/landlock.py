"""Landlock with no exceptions: no file may be opened, no TCP port used, no process outside signalled.

See the kernel's Documentation/userspace-api/landlock.rst; each version of its interface adds rights.
"""

from __future__ import annotations

import ctypes

_CREATE_RULESET_VERSION = 1
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Number of file-system rights (from bit 0 upwards) in each version; later versions have as many as 5."""


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


def version(libc: ctypes.CDLL, number: int) -> int:
    """Return the version of the interface; 0 if the kernel lacks Landlock or has it switched off.

    Args:
        libc: The C library.
        number: The number of the system call ``landlock_create_ruleset``.
    """
    return max(0, int(libc.syscall(number, None, 0, _CREATE_RULESET_VERSION)))


def restrict(libc: ctypes.CDLL, number: int) -> None:
    """Deny everything that Landlock can deny.

    Raises:
        OSError: The kernel lacks Landlock or refuses.
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
