"""Confinement of this process: layer by layer, it gives up everything that untrusted code must not have.

Each function applies one layer and raises OSError where the system lacks it. They run in a freshly forked,
single-threaded child, in the order of `LAYERS`: each may need what a later one takes away.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass

from promptpo_sandbox.guest import landlock, seccomp, wire

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_NOBODY = 65534
_FIRST_FREE_UID = 1_900_000_000
_HIGHEST_DESCRIPTOR = 1 << 20


@dataclass(frozen=True)
class Confinement:
    """Settings of the layers.

    Attributes:
        wanted: Names of the layers to apply.
        directory: Descriptor of an empty directory whose name has been removed.
        memory_bytes: Address space beyond what is in use now.
        cpu_seconds: CPU time.
    """

    wanted: frozenset[str]
    directory: int
    memory_bytes: int
    cpu_seconds: int


_libc = ctypes.CDLL(None, use_errno=True)
_architecture = seccomp.here()


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option} failed")


def _session(_settings: Confinement) -> None:
    os.setsid()


def _directory(settings: Confinement) -> None:
    os.fchdir(settings.directory)
    if os.geteuid() == 0:
        os.chroot(".")


def _rlimits(settings: Confinement) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_CPU: settings.cpu_seconds,
        resource.RLIMIT_AS: _in_use + settings.memory_bytes,
    }
    for limit, value in limits.items():
        _, hard = resource.getrlimit(limit)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)  # noqa: PLW2901
        resource.setrlimit(limit, (value, value))


def measure() -> None:
    """Record the address space in use; called once, while files can still be opened."""
    global _in_use  # noqa: PLW0603 - a fact about this process
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            _in_use = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # there is no /proc
        _in_use = 1 << 30


_in_use = 1 << 30


def _user(_settings: Confinement) -> None:
    """Switch from root to a user ID that owns nothing: one of its own, or 65534 where IDs are scarce."""
    os.setgroups([])
    for uid in (_FIRST_FREE_UID + os.getpid(), _NOBODY):
        try:
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        except OSError:
            continue
        return
    raise OSError("no unprivileged user id can be taken")


def _parent_death(_settings: Confinement) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(_PR_SET_DUMPABLE, 0)


def _no_new_privileges(_settings: Confinement) -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _landlock(_settings: Confinement) -> None:
    if _architecture is None:
        raise OSError("the numbers of its system calls are known for x86-64 and arm64 only")
    landlock.restrict(_libc, _architecture.landlock)


def _seccomp(_settings: Confinement) -> None:
    if _architecture is None:
        raise OSError("the system-call filter supports only x86-64 and arm64")
    seccomp.install(_libc, _architecture)


def _descriptors(_settings: Confinement) -> None:
    os.closerange(wire.WRITE + 1, _HIGHEST_DESCRIPTOR + 1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wire.WRITE + 1, wire.WRITE + 1))


LAYERS: dict[str, Callable[[Confinement], None]] = {
    "session": _session,
    "directory": _directory,
    "rlimits": _rlimits,
    "user": _user,
    "parent_death": _parent_death,
    "no_new_privileges": _no_new_privileges,
    "landlock": _landlock,
    "descriptors": _descriptors,
    "seccomp": _seccomp,
}


def confine(settings: Confinement) -> tuple[list[str], list[str]]:
    """Apply every wanted layer that the system supports.

    Returns:
        The names of the layers in force, and "name: reason" for those that are not.
    """
    active, missing = [], []
    for name, apply in LAYERS.items():
        if name == "user" and os.geteuid() != 0:
            continue
        if name not in settings.wanted:
            missing.append(f"{name}: switched off")
            continue
        try:
            apply(settings)
        except (OSError, ValueError) as error:
            missing.append(f"{name}: {error}")
        else:
            active.append(name)
    return active, missing
