"""``python -m promptpo_sandbox.check``: show which layers hold on this machine by attacking each of them.

For every layer a small attack runs three times: with all layers except the gate, where it must fail; with this layer
but without the others that would stop it too, where it must fail as well; and without any of them, where it should
succeed, which shows that the layer is what stops it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import socket
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from promptpo_sandbox.box import Sandbox
from promptpo_sandbox.errors import SandboxError
from promptpo_sandbox.results import Layers, Limits

PROBE_LIMITS = Limits(construct_seconds=5.0, call_seconds=1.0, memory_bytes=256 * 1024 * 1024)


@dataclass(frozen=True)
class Probe:
    """An attack on one layer.

    Attributes:
        layer: The layer under test.
        tries: The attack in words.
        source: Defines ``attack(argument)``, which returns "reached" if the attack succeeds.
        off: Layers to switch off, besides the gate, so that it succeeds.
        root_only: Whether it can succeed for root only.
    """

    layer: str
    tries: str
    source: str
    off: tuple[str, ...]
    root_only: bool = False


PROBES = (
    Probe("gate", "read a file with open()", "def attack(where):\n    return 'reached' if open(where['secret']).read() else ''", ("landlock", "seccomp", "directory", "descriptors")),
    Probe("environment", "read an environment variable", "def attack(where):\n    import posix\n    return 'reached' if b'SANDBOX_CHECK' in posix.environ else ''", ("environment",)),
    Probe("descriptors", "use descriptors left open", "def attack(where):\n    import os\n    for n in range(4, 64):\n        try:\n            os.fstat(n)\n            return 'reached'\n        except OSError:\n            pass\n    return ''", ("descriptors", "seccomp")),
    Probe("session", "stay in the session of its parent", "def attack(where):\n    import os\n    return 'reached' if os.getsid(0) != os.getpid() else ''", ("session", "seccomp")),
    Probe("directory", "look around in the file system's root", "def attack(where):\n    import os\n    os.stat(where['secret'])\n    return 'reached'", ("directory", "seccomp", "landlock"), root_only=True),
    Probe("rlimits", "take 400 MiB of memory", "def attack(where):\n    return 'reached' if len(bytes(400 << 20)) else ''", ("rlimits",)),
    Probe("user", "stay root", "def attack(where):\n    import os\n    return 'reached' if os.getuid() == 0 else ''", ("user", "seccomp"), root_only=True),
    Probe("parent_death", "outlive its parent", "def attack(where):\n    import ctypes\n    n = ctypes.c_int()\n    if ctypes.CDLL(None).prctl(2, ctypes.byref(n)) != 0:\n        return ''\n    return 'reached' if n.value != 9 else ''", ("parent_death", "seccomp")),
    Probe("no_new_privileges", "gain rights by executing a program", "def attack(where):\n    import ctypes\n    return 'reached' if ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0 else ''", ("no_new_privileges", "landlock", "seccomp")),
    Probe("landlock", "read a file", "def attack(where):\n    import io\n    return 'reached' if io.open(where['secret']).read() else ''", ("landlock", "seccomp", "directory", "descriptors")),
    Probe("landlock", "connect to a port", "def attack(where):\n    import _socket\n    s = _socket.socket(2, 1)\n    s.connect(('127.0.0.1', where['port']))\n    return 'reached'", ("landlock", "seccomp", "descriptors")),
    Probe("seccomp", "send a datagram", "def attack(where):\n    import _socket\n    s = _socket.socket(2, 2)\n    s.sendto(b'x', ('127.0.0.1', where['port']))\n    return 'reached'", ("seccomp", "descriptors")),
    Probe("seccomp", "start a process", "def attack(where):\n    import os\n    pid = os.fork()\n    if pid == 0:\n        os._exit(0)\n    return 'reached'", ("seccomp", "rlimits")),
    Probe("seccomp", "make memory executable", "def attack(where):\n    import ctypes\n    libc = ctypes.CDLL(None)\n    libc.mmap.restype = ctypes.c_void_p\n    got = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0)\n    return '' if got == 2**64 - 1 else 'reached'", ("seccomp",)),
)  # fmt: skip

ALWAYS = (
    ("deadline", "compute forever", "def attack(where):\n    while True:\n        pass", "timeout"),
    ("messages", "forge an answer to the host", "def attack(where):\n    import os\n    os.write(3, b'\\xff' * 64)\n    return 'reached'", "crashed"),
    ("output", "print without end", "def attack(where):\n    for _ in range(3000):\n        print('x' * 1000)\n    return 'ok'", None),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        layer: The layer.
        tries: The attack.
        stopped: Whether it was stopped with all layers except the gate in force.
        alone: Whether this layer stopped it without the others that would stop it too; None if not tried.
        matters: Whether it succeeded without any of them; None if not tried.
    """

    layer: str
    tries: str
    stopped: bool
    alone: bool | None = None
    matters: bool | None = None


class _Boxes:
    """Sandboxes with different layers, each started once."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._boxes: dict[Layers, Sandbox] = {}

    def get(self, off: Iterable[str]) -> Sandbox:
        """The sandbox without these layers."""
        layers = replace(Layers(), **dict.fromkeys(off, False))
        if layers not in self._boxes:
            box = Sandbox(PROBE_LIMITS, layers=layers, allow_weaker=True)
            self._boxes[layers] = self._stack.enter_context(box)
        return self._boxes[layers]


def probe_layers(directory: Path) -> list[Row]:
    """Run every attack with and without its layer.

    Args:
        directory: Directory for the file that attacks try to read; other users must be able to enter it.
    """
    secret = directory / "secret"
    secret.write_text("secret")
    secret.chmod(0o644)
    os.environ["SANDBOX_CHECK"] = "1"
    with contextlib.ExitStack() as stack:
        stack.callback(os.environ.pop, "SANDBOX_CHECK")
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        where = {"secret": str(secret), "port": server.getsockname()[1]}
        boxes = _Boxes(stack)
        rows = [
            _run_probe(probe, boxes, where) for probe in PROBES if not (probe.root_only and os.geteuid() != 0)
        ]
        rows += [_run_always(boxes.get(["gate"]), where, *attack) for attack in ALWAYS]
    return rows


def _run_probe(probe: Probe, boxes: _Boxes, where: dict[str, object]) -> Row:
    def probe_reaches(off: Iterable[str]) -> bool:
        return boxes.get(off).call(probe.source, "attack", where).value == "reached"

    others = {"gate", *probe.off} - {probe.layer}
    everything = () if probe.layer == "gate" else ("gate",)
    return Row(
        probe.layer,
        probe.tries,
        stopped=not probe_reaches(everything),
        alone=not probe_reaches(others),
        matters=probe_reaches(others | {probe.layer}),
    )


def _run_always(
    box: Sandbox, where: dict[str, object], layer: str, tries: str, source: str, kind: str | None
) -> Row:
    result = box.call(source, "attack", where)
    if kind is None:
        return Row(layer, tries, len(result.output) <= PROBE_LIMITS.output_bytes)
    return Row(layer, tries, result.failure is not None and result.failure.kind == kind)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 0 if the level is strong and every attack was stopped."""
    parser = argparse.ArgumentParser(
        prog="python -m promptpo_sandbox.check", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    try:
        with Sandbox(allow_weaker=True) as box:
            status = box.status
    except SandboxError as error:
        print(f"The sandbox does not work here: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        rows = probe_layers(directory)
    good = status.level == "strong" and all(row.stopped for row in rows)
    if options.json:
        system = {"kernel": platform.release(), "machine": platform.machine(), "root": os.geteuid() == 0}
        print(
            json.dumps(
                {"ok": good, **system, **asdict(status), "attacks": [asdict(row) for row in rows]}, indent=2
            )
        )
    else:
        _print_table(status.level, status.active, status.missing, rows)
    return 0 if good else 1


def _print_table(level: str, active: Sequence[str], missing: Sequence[str], rows: Sequence[Row]) -> None:
    print(f"Sandbox level: {level} ({platform.system()} {platform.release()}, {platform.machine()})")
    reasons = dict(entry.partition(": ")[::2] for entry in missing)
    for name in [field.name for field in fields(Layers)]:
        if name in active or name in reasons:
            print(f"  {name:18} {'active' if name in active else 'MISSING: ' + reasons[name]}")
    print(f"\n{'layer':18} {'attack':42} {'all layers':12} {'it alone':12} without")
    for row in rows:
        without = "-" if row.matters is None else "succeeds" if row.matters else "fails too"
        alone = "-" if row.alone is None else "stopped" if row.alone else "not stopped"
        print(
            f"{row.layer:18} {row.tries:42} {'stopped' if row.stopped else 'NOT STOPPED':12} {alone:12} {without}"
        )


if __name__ == "__main__":
    sys.exit(main())
