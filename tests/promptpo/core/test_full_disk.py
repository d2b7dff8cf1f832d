"""A full disk at any point of a run: a clear error, no lost paid calls, and a run that can be resumed."""

import contextlib
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.journal import JOURNAL, read_events
from tests.promptpo.core.test_kills import essence, finish, start, undisturbed

__all__ = ["undisturbed"]

KIB = 1024


@contextlib.contextmanager
def small_disk(where: Any, size: Any) -> Iterator[Any]:
    """Mount a real file system of `size` bytes at `where`."""
    where.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", where], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", where], check=True)


def fill(path: Any, leave: Any) -> None:
    """Fill the disk but for `leave` bytes."""
    disk = os.statvfs(path.parent)
    path.write_bytes(b"\0" * (disk.f_bavail * disk.f_frsize - leave))


@pytest.mark.skipif(os.name != "posix", reason="mounts a file system")
@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 8, 32])
def test_run_resumes_after_a_full_disk(tmp_path: Path, undisturbed: Any, room: Any) -> None:
    """The resumed run ends like the undisturbed one."""
    expected, _ = undisturbed
    with small_disk(tmp_path / "run", 8 * KIB * KIB):
        fill(tmp_path / "run" / "filler", room * KIB)
        process = start(tmp_path)
        process.join(100)
        last = (tmp_path / "errors").read_text().splitlines()[-1:]
        if process.exitcode:
            assert last, "it must say why"
            assert last[0].startswith("promptpo.errors.RunError"), last
        (tmp_path / "run" / "filler").unlink()
        assert finish(tmp_path) == 0
        ended = essence(tmp_path / "run")
        # trajectories that could not be saved are rolled out again for their feedback
        assert ended["steps"]["train"] >= expected["steps"]["train"]
        assert ended | {"steps": 0} == expected | {"steps": 0}
        answered = [
            event.key for event in read_events(tmp_path / "run" / JOURNAL) if event.kind == "completion"
        ]
        assert len(answered) == len(set(answered))
        asked = Counter((tmp_path / "calls").read_text().split())
        assert sum(asked.values()) <= len(asked) + 2  # at most those in flight when the disk was full
