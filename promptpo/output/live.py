"""The report of a run that goes on, served to this machine alone: read-only, one page, nothing else.

The page is the report as ``promptpo report`` writes it, without an episode: to look at it executes nothing. It
asks the browser to load it again while the run goes on.
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Self

from promptpo import __version__
from promptpo.errors import RunError
from promptpo.files import reading
from promptpo.output.baseline_run import CHECKPOINTS, is_baseline, read_baseline
from promptpo.output.report.page import page
from promptpo.output.report.result import RESULT
from promptpo.output.run_view import read_view
from promptpo.run.config import CONFIG
from promptpo.run.journal import JOURNAL

ADDRESS = "127.0.0.1"
SECONDS = 5
"""Between two loads of the page."""

NOTE = "The report as it is now; while the run goes on this page is loaded again every few seconds."
READ_ONLY = "GET, HEAD"

_OWN_NAME = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
"""What a browser may call this address: the port is another one where a tunnel leads here."""


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
                from promptpo.output.report.baseline_page import baseline_page

                baseline = read_baseline(self._run)
                return baseline_page(baseline), baseline.result is None
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


class PageServer:
    """Serves one page on 127.0.0.1; use it as a context manager.

    Args:
        page: Answers requests.
        port: Of the address; 0 takes one that is free.

    Raises:
        OSError: The port cannot be had.
    """

    def __init__(self, page: type[LocalPage], port: int = 0) -> None:
        self._server = ThreadingHTTPServer((ADDRESS, port), page)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self._server.server_address[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="local page", daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class LocalPage(BaseHTTPRequestHandler):
    """Answers GET and HEAD for the one page, to who asks for this address by its own name.

    Attributes:
        draw: Gives the page, and whether it is to be loaded again soon.
        seconds: After how many.
    """

    draw: Callable[[], tuple[str, bool]]
    seconds: ClassVar[int] = SECONDS
    server_version = f"promptpo/{__version__}"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """The page."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Its headers."""
        self._answer(body=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._refuse_method
        raise AttributeError(name)

    def _refuse_method(self) -> None:
        self.send(HTTPStatus.METHOD_NOT_ALLOWED, "This is read-only.\n", headers={"Allow": READ_ONLY})
        self.close_connection = True  # what it sent is not read

    def _answer(self, *, body: bool) -> None:
        if not self.is_ours():
            # a page elsewhere whose name has been pointed here must not read it
            self.send(HTTPStatus.MISDIRECTED_REQUEST, "This is not served under that name.\n", body=body)
        elif self.path != "/":
            self.send(HTTPStatus.NOT_FOUND, "There is one page here: /\n", body=body)
        else:
            text, going_on = self.draw()
            headers = {"Refresh": str(self.seconds)} if going_on else {}
            self.send(HTTPStatus.OK, text, kind="text/html", headers=headers, body=body)

    def is_ours(self) -> bool:
        """Whether a request names this address."""
        hosts = self.headers.get_all("Host") or []
        return len(hosts) == 1 and _OWN_NAME.fullmatch(hosts[0]) is not None

    def send(
        self,
        status: HTTPStatus,
        text: str,
        *,
        kind: str = "text/plain",
        headers: dict[str, str] | None = None,
        body: bool = True,
    ) -> None:
        """Send one whole answer, which no other page may read, frame or keep."""
        data = text.encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in http.server
        """Requests are not printed."""


def live_server(run: Path, port: int = 0) -> PageServer:
    """Serves a `LiveReport`.

    Args:
        run: The run directory.
        port: Of the address; 0 takes one that is free.

    Raises:
        OSError: The port cannot be had.
    """
    return PageServer(type("Served", (LocalPage,), {"draw": staticmethod(LiveReport(run).draw)}), port)
