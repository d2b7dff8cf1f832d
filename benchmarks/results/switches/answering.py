"""A local server that speaks OpenAI's protocol and answers from a function, for measurements of the loop."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

CHARACTERS_PER_TOKEN = 4


class AnsweringServer:
    """Answers each chat completion; a context manager.

    Args:
        answer: Gets the number of the call, from 1, and the last message; returns the answer's text.
        latency: Seconds that a call takes on average; calls differ, so that answers do not come together.

    Attributes:
        url: What a client takes as its base URL.
    """

    def __init__(self, answer: Callable[[int, str], str], latency: float = 0.0) -> None:
        self._answer, self._latency = answer, latency
        self._calls = 0
        self._lock = threading.Lock()
        server = self

        class AnsweringHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(server.complete(request["messages"])).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), AnsweringHandler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def complete(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The response to one request, after its latency."""
        with self._lock:
            self._calls += 1
            n = self._calls
        time.sleep(self._latency * (0.5 + (n % 4) / 3))
        text = self._answer(n, str(messages[-1]["content"]))
        read = sum(len(str(message["content"])) for message in messages) // CHARACTERS_PER_TOKEN
        written = len(text) // CHARACTERS_PER_TOKEN
        return {
            "id": str(n),
            "object": "chat.completion",
            "created": 0,
            "model": "local",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            ],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
            },
        }

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
