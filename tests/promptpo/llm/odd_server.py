"""A server that speaks OpenAI's format with the quirks of compatible servers; the model's name selects the quirk."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

POLICY = """```python
class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.4 * obs[3] > 0 else 0
```
"""
DRAFT = POLICY.replace("0.4", "9.9")
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": f"Perhaps\n{DRAFT}"}]}
LIMIT = 600

REFUSALS_OF_SYSTEM: dict[str, tuple[int, Any]] = {
    "template": (400, {"object": "error", "message": "System role not supported", "code": 400}),
    "jinja": (500, {"error": {"code": 500, "message": "Jinja Exception: System role not supported"}}),
    "o1": (
        400,
        {
            "error": {
                "message": "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                "param": "messages[0].role",
            }
        },
    ),
    "alternate": (400, {"error": {"message": "Conversation roles must alternate user/assistant/user/..."}}),
    "only": (400, {"message": "Only user and assistant roles are supported!"}),
    "fastapi": (
        422,
        {
            "detail": [
                {"loc": ["body", "messages", 0, "role"], "msg": "Input should be 'user' or 'assistant'"}
            ]
        },
    ),
    "developer": (400, [{"error": {"message": "Developer instruction is not enabled for models/small"}}]),
}
"""Errors of servers whose model's template has no system prompt."""

LIMITS: dict[str, str] = {
    "openai": f"max_tokens is too large: {{0}}. This model supports at most {LIMIT} completion tokens, whereas you provided {{0}}.",
    "anthropic": f"max_tokens: {{0}} > {LIMIT}, which is the maximum allowed number of output tokens for small-4-1",
    "deepseek": f"Invalid max_tokens value, the valid range of max_tokens is [1, {LIMIT}]",
    "groq": f"`max_tokens` must be less than or equal to `{LIMIT}`",
    "vllm": "'max_tokens' is too large: {0}. This model's maximum context length is 3600 tokens and your request has 3000 input "
    "tokens ({0} > 3600 - 3000).",
    "context": "This model's maximum context length is 3,600 tokens. However, you requested tokens (3000 in the messages, {0} in the "
    "completion). Please reduce max_tokens.",
    "vllm output": "This model's maximum context length is 3600 tokens. However, you requested {0} output tokens and your prompt contains "
    "at least 3000 input tokens, for a total of at least 19384 tokens. Please reduce the length of the input prompt or the number of "
    "requested output tokens.",
    "pydantic": f"max_tokens: ensure this value is less than or equal to {LIMIT}",
    "litellm": "litellm.BadRequestError: ContextWindowExceededError: OpenAIException - This model's maximum context length is 3600 tokens. "
    "However, you requested 19384 tokens (3000 in the messages, {0} in the completion). Please reduce the length of the messages "
    "or completion.",
}
"""Errors of servers for a token limit that is too large."""

STREAMS: dict[str, list[dict[str, Any]]] = {
    "plain": [{"content": POLICY}],
    "parts": [{"content": [THINKING]}, {"content": [{"type": "text", "text": POLICY}]}],
    "parts then text": [{"content": [THINKING]}, {"content": POLICY}],
    "part alone": [{"content": {"type": "text", "text": POLICY}}],
    "texts": [{"content": [POLICY[:20], POLICY[20:]]}],
    "reasoning beside": [{"reasoning_content": DRAFT}, {"content": POLICY}],
    "reasoning alone": [{"reasoning_content": "Hm.\n"}, {"reasoning_content": POLICY}, {"content": ""}],
    "other field": [{"content": None, "reasoning": POLICY}],
    "details": [{"content": "", "reasoning_details": [{"type": "reasoning.text", "text": POLICY}]}],
    "reasoning parts": [{"content": [{"type": "thinking", "thinking": POLICY}]}],
    "tool": [
        {"tool_calls": [{"index": 0, "function": {"name": "python", "arguments": piece}}]}
        for piece in ('{"co', 'de": ', json.dumps(POLICY), "}")
    ],
}
"""Deltas of answers; each contains the policy."""

ERRORS: dict[str, Any] = {
    "object": {"error": {"message": "Provider returned error", "code": 502}},
    "text": {"error": "Provider returned error"},
    "no code": {"error": {"message": "Provider returned error"}, "choices": None},
}
"""Bodies of responses with status 200 that are no answer."""

TOO_LONG = "The number of tokens to keep is greater than the context length (n_keep: 5321 >= n_ctx: 4096)."

NOWHERE = ("answered", "detail", "message", "page")
"""Keys of FAILURES for a wrong path."""

FAILURES: dict[str, tuple[int, Any]] = {
    "answered": (
        200,
        {"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"},
    ),
    "detail": (404, {"detail": "Not Found"}),
    "message": (404, {"error": {"message": "Invalid URL (POST /chat/completions)"}}),
    "page": (404, {"error": "404 page not found"}),
    "long": (200, {"error": {"message": TOO_LONG}}),
    "memory": (500, {"error": {"message": "CUDA error: out of memory"}}),
}
"""Status and body if every call fails."""


class OddServer:
    """Answers requests until it is closed.

    Attributes:
        asked: Bodies of all requests.
        models: Models that it lists.
        loading: Number of requests refused because the model is still loading.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.models: list[str] = []
        self.loading = 0
        self.times: Counter[str] = Counter()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"odd": self}))
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def address(self) -> str:
        """The value for ``--base-url``."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def close(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status, and a body or the events of a stream."""
        self.asked.append(body)
        way, _, name = body["model"].partition("/")
        self.times[body["model"]] += 1
        if way == "system" and body["messages"][0]["role"] == "system":
            return REFUSALS_OF_SYSTEM[name]
        if way == "limit" and body["max_tokens"] > LIMIT:
            return 400, {"error": {"message": LIMITS[name].format(body["max_tokens"]), "param": "max_tokens"}}
        if way == "fails":
            return FAILURES[name]
        if way == "error" or (way == "error once" and self.times[body["model"]] == 1):
            return 200, ERRORS[name]
        if way == "loading" and self.times[body["model"]] <= self.loading:
            return 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
        if way == "whole":
            return 200, _body(body["model"], name)
        if way == "stop":
            return 200, list(_events(body["model"], [{"content": POLICY[:60]}], finish=name))
        if way == "midway":
            error = {"error": {"code": 502, "message": "Provider disconnected"}}
            return 200, [*_events(body["model"], [{"content": POLICY[:60]}], finish=None), error]
        if way == "message":
            return 200, list(_events(body["model"], [{"content": POLICY}], field="message"))
        events = list(_events(body["model"], STREAMS[name if way in {"stream", "uncounted"} else "plain"]))
        return 200, events[:-1] if way == "uncounted" else events


def _body(model: str, name: str) -> dict[str, Any]:
    """Build a whole answer from the deltas of a stream, or with its text in the choice itself."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    if name == "text":
        choice["text"] = POLICY
    else:
        deltas = STREAMS[name]
        choice["message"] = {"role": "assistant", **{key: deltas[-1][key] for key in deltas[-1]}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}


def _events(
    model: str, deltas: list[dict[str, Any]], *, finish: str | None = "stop", field: str = "delta"
) -> Iterator[dict[str, Any]]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model}
    for delta in ({"role": "assistant", "content": ""}, *deltas):
        yield {**head, "choices": [{"index": 0, field: delta, "finish_reason": None}]}
    if finish:
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    yield {
        **head,
        "choices": None,
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }


class _Handler(BaseHTTPRequestHandler):
    odd: OddServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        self.send(
            200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self.odd.models]}
        )

    def do_POST(self) -> None:
        status, content = self.odd.answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        if status != 200 or not isinstance(content, list):
            self.send(status, content)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in content:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def send(self, status: int, body: Any) -> None:
        """Send a JSON response."""
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
