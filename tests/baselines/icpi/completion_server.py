"""A small real HTTP server that completes prompts, raw and as chat, and can fail as real ones do."""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from promptpo_baselines.icpi.values import CompletionRequest


class CompletionServerForTests:
    """Answers ``/completions``, ``/chat/completions`` and ``/tokenize`` with an engine's lines.

    Attributes:
        address: Its address, ending in ``/v1``.
        seen: (path, body) of all requests so far.
        failures: Responses to give first: (status, headers, body).
        works_for: Number of requests after which it always fails.
        context: Longest prompt in characters; longer ones are refused as a real server refuses them.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.seen: list[Any] = []
        self.failures: deque[Any] = deque()
        self.context: Any = None
        self.works_for: Any = None
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}/v1"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()

    @property
    def completions(self) -> Any:
        """Return the bodies of all requests for a completion."""
        return [body for path, body in self.seen if path.endswith("completions")]

    def answer(self, path: Any, body: Any) -> Any:
        """Return status, headers and content of a response."""
        with self._lock:
            self.seen.append((path, body))
            if self.works_for is not None and len(self.seen) > self.works_for:
                return 400, {}, {"error": {"message": "out of order"}}
            if self.failures:
                return self.failures.popleft()
            if path.endswith("/tokenize"):
                return 200, {}, {"tokens": body["content"].split()}
            if path.endswith("/chat/completions"):
                examples, question = (message["content"] for message in body["messages"][-2:])
                return 200, {}, self._chat(examples + question.split("\n(The next line")[0] + "\n")
            return self._raw(body)

    def _raw(self, body: Any) -> Any:
        prompt = body["prompt"]
        if self.context is not None and len(prompt) > self.context:
            message = f"the request exceeds the available context size ({self.context})"
            return 400, {}, {"error": {"message": message, "type": "exceed_context_size_error", "code": 400}}
        usage: dict[str, Any] = {
            "prompt_tokens": len(prompt.split()),
            "completion_tokens": 3,
            "total_tokens": 0,
        }
        usage["prompt_tokens_details"] = {"cached_tokens": 2}
        choice = {"text": self._line(prompt), "index": 0, "finish_reason": "stop", "logprobs": None}
        base = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": body["model"]}
        return 200, {}, {**base, "choices": [choice], "usage": usage}

    def _chat(self, prompt: Any) -> Any:
        message = {"role": "assistant", "content": f"```python\n{self._line(prompt)}\n```"}
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(prompt.split()), "completion_tokens": 3, "total_tokens": 0},
        }  # fmt: skip

    def _line(self, prompt: Any) -> Any:
        # Every request has the same kind, so that an engine cannot rely on more than the prompt.
        examples, gap, query = prompt.rpartition("\n\n")
        return self.engine.complete([CompletionRequest(examples + gap, query, "done")])[0].text

    def _handler(self) -> Any:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body in one packet; two would wait for each other

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, headers, content = server.answer(self.path, body)
                payload = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: Any) -> None:
                """Stay silent."""

        return Handler
