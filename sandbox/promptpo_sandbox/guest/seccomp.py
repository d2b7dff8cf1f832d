"""A system-call filter in BPF: an allow-list for a process that only computes and uses two pipes.

``read`` is allowed on descriptor 0 and ``write`` on descriptors 1 to 3 (`promptpo_sandbox.guest.wire`); memory may
never become executable; every other call fails with EPERM, which Python turns into a readable error. Calls of a
foreign architecture (32-bit compatibility, x32) kill the process.

The filter is a classic BPF program over ``struct seccomp_data`` (linux/seccomp.h): the system call's number
at offset 0, the architecture at 4, the arguments at 16 + 8 i, low word first.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, DENY, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
PROT_EXEC = 4
X32_BIT = 0x40000000

_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 32
_SECCOMP_SET_MODE_FILTER = 1
_FLAG_TSYNC, _FLAG_SPEC_ALLOW = 1, 4


@dataclass(frozen=True)
class Architecture:
    """Constants of one machine architecture.

    Attributes:
        audit: Its AUDIT_ARCH number (linux/audit.h).
        numbers: System-call numbers by name.
        seccomp: The number of ``seccomp`` itself.
        landlock: The number of ``landlock_create_ruleset``; the other two follow it.
    """

    audit: int
    numbers: dict[str, int]
    seccomp: int
    landlock: int = 444


X86_64 = Architecture(
    audit=0xC000003E,
    numbers={
        "read": 0, "write": 1, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13,
        "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28, "getpid": 39,
        "exit": 60, "gettimeofday": 96, "sigaltstack": 131, "time": 201, "futex": 202, "restart_syscall": 219,
        "clock_gettime": 228, "clock_getres": 229, "exit_group": 231, "getcpu": 309, "getrandom": 318,
    },
    seccomp=317,
)  # fmt: skip
ARM64 = Architecture(
    audit=0xC00000B7,
    numbers={
        "read": 63, "write": 64, "exit": 93, "exit_group": 94, "futex": 98, "clock_gettime": 113,
        "clock_getres": 114, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134,
        "rt_sigprocmask": 135, "rt_sigreturn": 139, "getcpu": 168, "gettimeofday": 169, "getpid": 172, "brk": 214,
        "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233, "getrandom": 278,
    },
    seccomp=277,
)  # fmt: skip
ARCHITECTURES = {"x86_64": X86_64, "amd64": X86_64, "aarch64": ARM64, "arm64": ARM64}

_DESCRIPTORS = {"read": (0,), "write": (1, 2, 3)}
_NO_EXEC = ("mmap", "mprotect")


def here() -> Architecture | None:
    """Return the constants of this machine, or None if the filter does not support it."""
    if struct.calcsize("P") != 8:  # noqa: PLR2004
        return None
    return ARCHITECTURES.get(platform.machine().lower())


Instruction = tuple[int, int, int, int]


def program(architecture: Architecture) -> list[Instruction]:
    """Return the filter as (code, jump if true, jump if false, operand) instructions."""
    code: list[Instruction] = [
        (LOAD, 0, 0, _ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture.audit),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, _NUMBER),
    ]
    if architecture is X86_64:
        code += [(JUMP_AT_LEAST, 0, 1, X32_BIT), (RETURN, 0, 0, KILL)]
    for name, number in architecture.numbers.items():
        check = _check(name)
        code += [(JUMP_EQUAL, 0, len(check), number), *check]
    return [*code, (RETURN, 0, 0, DENY)]


def _check(name: str) -> list[Instruction]:
    """Return the instructions for one call whose number has matched."""
    if name in _DESCRIPTORS:
        known = _DESCRIPTORS[name]
        jumps = [(JUMP_EQUAL, len(known) - index, 0, number) for index, number in enumerate(known)]
        return [(LOAD, 0, 0, _FIRST_ARGUMENT), *jumps, (RETURN, 0, 0, DENY), (RETURN, 0, 0, ALLOW)]
    if name in _NO_EXEC:
        return [
            (LOAD, 0, 0, _THIRD_ARGUMENT),
            (JUMP_ANY_BIT, 0, 1, PROT_EXEC),
            (RETURN, 0, 0, DENY),
            (RETURN, 0, 0, ALLOW),
        ]
    return [(RETURN, 0, 0, ALLOW)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def install(libc: ctypes.CDLL, architecture: Architecture) -> None:
    """Install the filter in this process; needs no privilege once no-new-privileges is set.

    Raises:
        OSError: The kernel refuses.
    """
    raw = b"".join(struct.pack("<HBBI", *instruction) for instruction in program(architecture))
    buffer = ctypes.create_string_buffer(raw, len(raw))
    filter_ = _Program(len(raw) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    for flags in (_FLAG_TSYNC | _FLAG_SPEC_ALLOW, _FLAG_TSYNC):
        if libc.syscall(architecture.seccomp, _SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(filter_)) == 0:
            return
    raise OSError(ctypes.get_errno(), "seccomp is not available")
