"""One page, served to this machine only; it may take a person's answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs

from promptpo.version import __version__

ADDRESS = "127.0.0.1"
MAX_ANSWER_BYTES = 1000
"""Maximum size of an answer."""

_OWN_NAME = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
"""Hosts by which a browser may request the page; the port is another one behind a tunnel."""

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""No other page may read, frame or store a response."""


class PageServer(ThreadingHTTPServer):
    """Serves one page on 127.0.0.1; use it as a context manager.

    Args:
        draw: Returns the page, and whether the browser shall reload it soon.
        port: Port to listen on; 0 takes a free one.
        seconds: Interval of reloads.
        take: Takes secret and word of an answer, returns whether it is valid; without it the page is read-only.

    Raises:
        OSError: The port is not available.
    """

    daemon_threads = True

    def __init__(
        self,
        draw: Callable[[], tuple[str, bool]],
        port: int = 0,
        *,
        seconds: int = 5,
        take: Callable[[str, str], bool] | None = None,
    ) -> None:
        super().__init__((ADDRESS, port), _Questions if take else _Page)
        self.draw, self.seconds, self.take = draw, seconds, take or (lambda _secret, _word: False)

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.1,), name="local page", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Page(BaseHTTPRequestHandler):
    """Serves the page to requests for this address by its own name; methods other than GET are unknown."""

    server: PageServer
    server_version = f"promptpo/{__version__}"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """Draw the page."""
        if self._is_meant():
            text, resume_command = self.server.draw()
            again = {"Refresh": str(self.server.seconds)} if resume_command else {}
            self._send(HTTPStatus.OK, text, {"Content-Type": "text/html; charset=utf-8", **again})

    def _is_meant(self) -> bool:
        """Whether a request is for this page; if not, answer it."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not _OWN_NAME.fullmatch(hosts[0]):
            # DNS rebinding: a foreign page whose name resolves to this address must not read it
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "This page is not served under that host name.\n")
        elif self.path != "/":
            self._send(HTTPStatus.NOT_FOUND, "There is one page here: /\n")
        else:
            return True
        return False

    def _send(self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None) -> None:
        """Send a complete response."""
        data = text.encode()
        self.send_response(status)
        common = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(data)), **HEADERS}
        for name, value in (common | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in http.server
        """Do not print requests."""


class _Questions(_Page):
    """Also takes answers, from readers of the page."""

    def do_POST(self) -> None:
        """Take an answer and send the browser back to the page."""
        if not self._is_meant():
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_ANSWER_BYTES:
            self._send(HTTPStatus.BAD_REQUEST, "This is not a valid answer.\n")
            return
        given = parse_qs(self.rfile.read(int(length)).decode("ascii", "replace"))
        secret, word = (given.get(name, [""])[0] for name in ("secret", "word"))
        if self.server.take(secret, word):
            self._send(HTTPStatus.SEE_OTHER, "Thank you.\n", {"Location": "/"})
        else:
            self._send(HTTPStatus.CONFLICT, "This pair has been answered; reload the page.\n")
