"""One page, served to this machine alone: what it shows now, and, where somebody is asked, what they answer."""

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
"""Of an answer."""

_OWN_NAME = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
"""What a browser may call this address: the port is another one where a tunnel leads here."""

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""No other page may read, frame or keep an answer."""


class PageServer(ThreadingHTTPServer):
    """Serves one page on 127.0.0.1; use it as a context manager.

    Args:
        draw: Gives the page, and whether it is to be loaded again soon.
        port: Of the address; 0 takes one that is free.
        seconds: After how many the browser loads it again.
        take: Takes the secret and the word of an answer, and says whether it is one; without it the page is read-only.

    Raises:
        OSError: The port cannot be had.
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
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.1,), name="local page", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Page(BaseHTTPRequestHandler):
    """Shows the one page to who asks for this address by its own name; every method but GET is unknown."""

    server: PageServer
    server_version = f"promptpo/{__version__}"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """Draw the page."""
        if self._is_meant():
            text, going_on = self.server.draw()
            again = {"Refresh": str(self.server.seconds)} if going_on else {}
            self._send(HTTPStatus.OK, text, {"Content-Type": "text/html; charset=utf-8", **again})

    def _is_meant(self) -> bool:
        """Whether this page is asked for; else that is answered."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not _OWN_NAME.fullmatch(hosts[0]):
            # a page elsewhere whose name has been pointed here must not read it
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "This page is not served under that host name.\n")
        elif self.path != "/":
            self._send(HTTPStatus.NOT_FOUND, "There is one page here: /\n")
        else:
            return True
        return False

    def _send(self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None) -> None:
        """Send one whole answer."""
        data = text.encode()
        self.send_response(status)
        told = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(data)), **HEADERS}
        for name, value in (told | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in http.server
        """Requests are not printed."""


class _Questions(_Page):
    """Takes answers besides, from who has read the page."""

    def do_POST(self) -> None:
        """Take an answer; the browser is sent back to the page."""
        if not self._is_meant():
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_ANSWER_BYTES:
            self._send(HTTPStatus.BAD_REQUEST, "This is not a valid answer.\n")
            return
        given = parse_qs(self.rfile.read(int(length)).decode("ascii", "replace"))
        secret, word = (given.get(name, [""])[0] for name in ("secret", "word"))
        if self.server.take(secret, word):
            self._send(HTTPStatus.SEE_OTHER, "Thank you.\n", {"Location": "/"})
        else:
            self._send(HTTPStatus.CONFLICT, "This pair has been answered; reload the page.\n")
