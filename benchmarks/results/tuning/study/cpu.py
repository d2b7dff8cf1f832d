"""CPU time of a process and everything it started, from Linux's /proc."""

from __future__ import annotations

import os
from pathlib import Path

PARENT, FIRST, LAST = 1, 11, 15
"""Fields of /proc/PID/stat after the name: the parent, and user and system time of the process itself and
of its children that have ended."""


def cpu_seconds() -> float:
    """CPU seconds used so far by this process and its descendants, those that ended included.

    What a descendant used is lost where it ended without being waited for, so that differences should
    be taken while workers are alive.
    """
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:  # it ended meanwhile
                continue
            pid = int(folder.name)
            parents[pid] = int(fields[PARENT])
            ticks[pid] = sum(map(int, fields[FIRST:LAST]))
    total = sum(n for pid, n in ticks.items() if _descends(pid, os.getpid(), parents))
    return total / os.sysconf("SC_CLK_TCK")


def _descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid and pid != ancestor:
        pid = parents.get(pid, 0)
    return pid == ancestor
