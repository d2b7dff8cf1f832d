"""The report of a run that goes on, served to this machine alone: read-only, one page, nothing else.

The page is the report as ``promptpo report`` writes it, without an episode: to look at it executes nothing. It
asks the browser to load it again while the run goes on.
"""

from __future__ import annotations

import html
import threading
from pathlib import Path

from promptpo.errors import RunError
from promptpo.files import reading
from promptpo.output.baseline_run import CHECKPOINTS, is_baseline, read_baseline
from promptpo.output.report.page import page
from promptpo.output.report.result import RESULT
from promptpo.output.run_view import read_view
from promptpo.output.serving import PageServer
from promptpo.run.config import CONFIG
from promptpo.run.journal import JOURNAL

NOTE = "The report as it is now; while the run goes on this page is loaded again every few seconds."


class LiveReport:
    """The report of a run as it is now; it is drawn again only when the run has gone on.

    Args:
        run: The run directory, which may be empty so far.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._seen: object = None
        self._drawn = ("", True)

    def draw(self) -> tuple[str, bool]:
        """The page, and whether the run goes on."""
        with self._lock:
            now = self._state()
            if now != self._seen or not self._drawn[0]:
                self._drawn, self._seen = self._page(), now
            return self._drawn

    def _state(self) -> object:
        """What changes when the run goes on."""
        files = [self._run / name for name in (CONFIG, JOURNAL, RESULT, CHECKPOINTS)]
        return [(at.stat().st_mtime_ns, at.stat().st_size) if at.exists() else None for at in files]

    def _page(self) -> tuple[str, bool]:
        try:
            if is_baseline(self._run):
                baseline = read_baseline(self._run)
                return page(baseline), baseline.result is None
            if not (self._run / CONFIG).exists() or not (self._run / JOURNAL).exists():
                return _waiting(self._run, "The run has not begun to write yet."), True
            with reading(self._run):
                view = read_view(self._run)
                return page(view, NOTE), view.result is None or not view.state.finished
        except (RunError, OSError) as error:  # it may be written this moment
            return _waiting(self._run, str(error)), True


def _waiting(run: Path, why: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:">'
        f'<title>{html.escape(run.name)} | promptpo</title><link rel="icon" href="data:,"></head>'
        f"<body><h1>{html.escape(run.name)}</h1><p>{html.escape(why)}</p></body></html>\n"
    )


def live_server(run: Path, port: int = 0) -> PageServer:
    """Serves a `LiveReport`.

    Args:
        run: The run directory.
        port: Of the address; 0 takes one that is free.

    Raises:
        OSError: The port cannot be had.
    """
    return PageServer(LiveReport(run).draw, port)
