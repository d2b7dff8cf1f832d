"""The system-call filter, run in an interpreter of its own for both architectures."""

from __future__ import annotations

import pytest

from promptpo_sandbox.guest import seccomp
from promptpo_sandbox.guest.seccomp import ALLOW, ARM64, DENY, KILL, X86_64, Architecture, program


def run(
    architecture: Architecture, number: int, arguments: tuple[int, ...] = (), audit: int | None = None
) -> int:
    """Return the filter's decision on one system call."""
    words = {0: number, 4: architecture.audit if audit is None else audit}
    for index in range(6):
        value = arguments[index] if index < len(arguments) else 0
        words[16 + 8 * index] = value & 0xFFFFFFFF
        words[20 + 8 * index] = value >> 32
    accumulator, at, code = 0, 0, program(architecture)
    while True:
        operation, if_true, if_false, operand = code[at]
        at += 1
        if operation == seccomp.LOAD:
            accumulator = words[operand]
        elif operation == seccomp.RETURN:
            return operand
        else:
            taken = {
                seccomp.JUMP_EQUAL: accumulator == operand,
                seccomp.JUMP_AT_LEAST: accumulator >= operand,
                seccomp.JUMP_ANY_BIT: bool(accumulator & operand),
            }[operation]
            at += if_true if taken else if_false


BOTH = pytest.mark.parametrize("architecture", [X86_64, ARM64], ids=["x86-64", "arm64"])


@BOTH
def test_only_pipes_may_be_read_and_written(architecture: Architecture) -> None:
    """Descriptor 0 for reading, and three for writing: the host's pipe and two that lead nowhere."""
    read, write = architecture.numbers["read"], architecture.numbers["write"]
    assert [run(architecture, read, (fd,)) for fd in range(5)] == [ALLOW, DENY, DENY, DENY, DENY]
    assert [run(architecture, write, (fd,)) for fd in range(5)] == [DENY, ALLOW, ALLOW, ALLOW, DENY]


@BOTH
def test_memory_is_never_executable(architecture: Architecture) -> None:
    """Mmap and mprotect are denied with PROT_EXEC."""
    for name in ("mmap", "mprotect"):
        number = architecture.numbers[name]
        assert run(architecture, number, (0, 4096, 3)) == ALLOW
        assert [run(architecture, number, (0, 4096, protection)) for protection in (4, 5, 7)] == [DENY] * 3


FORBIDDEN = {  # from the kernel's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h
    "openat": (257, 56), "socket": (41, 198), "connect": (42, 203), "clone": (56, 220), "clone3": (435, 435),
    "execve": (59, 221), "execveat": (322, 281), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "prctl": (157, 167),
    "setrlimit": (160, 164), "prlimit64": (302, 261), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "ioctl": (16, 29), "fcntl": (72, 25), "dup": (32, 23), "close": (3, 57), "io_uring_setup": (425, 425),
    "memfd_create": (319, 279), "userfaultfd": (323, 282), "bpf": (321, 280), "perf_event_open": (298, 241),
    "keyctl": (250, 219), "setresuid": (117, 147), "sched_setaffinity": (203, 122), "nanosleep": (35, 101),
    "newfstatat": (262, 79), "getdents64": (217, 61), "seccomp": (317, 277), "landlock_create_ruleset": (444, 444),
    "shmget": (29, 194), "pipe2": (293, 59), "pidfd_open": (434, 434), "rt_sigqueueinfo": (129, 138),
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("name", FORBIDDEN)
def test_other_calls_are_denied(architecture: Architecture, name: str) -> None:
    """Files, sockets, programs, signals, namespaces and the like get EPERM."""
    number = FORBIDDEN[name][architecture is ARM64]
    assert run(architecture, number) == DENY


@BOTH
def test_allowed_calls_are_exactly_those_listed(architecture: Architecture) -> None:
    allowed = {
        number
        for number in range(600)
        if ALLOW in (run(architecture, number), run(architecture, number, (1,)))
    }
    assert allowed == set(architecture.numbers.values())


@BOTH
def test_foreign_architectures_are_killed(architecture: Architecture) -> None:
    """Their numbers mean other calls."""
    for audit in {0x40000003, 0x40000028, X86_64.audit, ARM64.audit} - {architecture.audit}:
        assert run(architecture, architecture.numbers["read"], (0,), audit) == KILL


def test_x32_is_killed() -> None:
    """Its numbers would pass a comparison of the lower bits."""
    assert run(X86_64, 0x40000000 + X86_64.numbers["read"], (0,)) == KILL
    assert run(X86_64, 0xFFFFFFFF) == KILL


@BOTH
def test_jumps_stay_inside_the_program(architecture: Architecture) -> None:
    """Offsets fit into one byte, and every path returns."""
    code = program(architecture)
    assert len(code) < 4096
    for at, (_, if_true, if_false, _) in enumerate(code):
        assert max(if_true, if_false) < 256
        assert at + 1 + max(if_true, if_false) <= len(code)
    assert code[-1][0] == seccomp.RETURN
