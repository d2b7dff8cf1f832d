"""A small real HTTP server that speaks both wire formats and can fail in every way that a real one does."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """The server's reaction to one request.

    Attributes:
        text: The answer.
        finish: "stop", "length" or "refusal".
        status: HTTP status; from 400 on, `text` is the error message.
        error: Further fields of the error object.
        headers: Further response headers.
        delay: Seconds before the response.
        drop: Close the connection without a response.
        raw: A body to send instead of one in the wire format; HTML when it begins like it, else JSON.
        thought: Reasoning tokens among the 10 generated ones.
        cached: Prompt tokens read from the cache, of 100.
        written: Prompt tokens written to the cache, of 100.
        whole: Ignore a request to stream, as some servers do.
        break_after: Number of events after which the connection is closed; None sends all.
        pause: Seconds between the events of a stream.
    """

    text: str = "an answer"
    finish: str = "stop"
    status: int = 200
    error: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    raw: bytes | None = None
    thought: int = 0
    cached: int = 0
    written: int = 0
    whole: bool = False
    break_after: int | None = None
    pause: float = 0.0


@dataclass(frozen=True)
class Seen:
    """A request that the server received."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    time: float


Step = Reply | Callable[[Mapping[str, Any]], Reply]


class WireServer:
    """Answers from a script, then with `otherwise`.

    Attributes:
        seen: All requests so far.
        otherwise: The answer once the script is used up; may be a function of the request's body.
        max_in_flight: Largest number of concurrent requests.
        barrier: Hold each request until this many have arrived; breaks if they do not.
    """

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.otherwise: Step = Reply()
        self.max_in_flight = 0
        self.barrier: threading.Barrier | None = None
        self._script: deque[Step] = deque()
        self._in_flight = 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def address(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def script(self, *steps: Step) -> None:
        """Answer the next requests with these."""
        self._script.extend(steps)

    def close(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, seen: Seen) -> Reply:
        """Record a request and return its answer."""
        with self._lock:
            self.seen.append(seen)
            self._in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self._in_flight)
            step = self._script.popleft() if self._script else self.otherwise
        if self.barrier is not None:
            self.barrier.wait(timeout=60)
        reply = step if isinstance(step, Reply) else step(seen.body)
        time.sleep(reply.delay)
        with self._lock:
            self._in_flight -= 1
        return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        return type("Handler", (_Handler,), {"wire": self})


class _Handler(BaseHTTPRequestHandler):
    """Handles requests of a `WireServer`."""

    wire: WireServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = self.wire.answer(Seen(self.path, dict(self.headers), body, time.monotonic()))
        if reply.drop:
            self.close_connection = True
            self.connection.close()
            return
        kind = self.path.rpartition("/")[2]
        content = BODIES[kind](reply, body["model"])
        if body.get("stream") and reply.status < 400 and reply.raw is None and not reply.whole:
            self.stream(reply, STREAMS[kind](content, body))
            return
        payload = json.dumps(content).encode() if reply.raw is None else reply.raw
        try:
            self.send_response(reply.status)
            self.send_header(
                "content-type",
                "text/html" if (reply.raw or b"").startswith(b"<") else "application/json",
            )
            self.send_header("content-length", str(len(payload)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client has given up

    def stream(self, reply: Reply, events: list[dict[str, Any]]) -> None:
        """Send events in chunks, as the services do."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for event in events[: reply.break_after]:
                name = f"event: {event['type']}\n" if "type" in event else ""
                self.chunk(f"{name}data: {json.dumps(event)}\n\n")
                time.sleep(reply.pause)
            if reply.break_after is not None:
                self.close_connection = True
                self.connection.close()
                return
            if "type" not in events[0]:
                self.chunk("data: [DONE]\n\n")
            self.chunk("")

    def chunk(self, text: str) -> None:
        """Send one chunk; an empty one ends the response."""
        self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


def openai_body(reply: Reply, model: str) -> dict[str, Any]:
    """Return a response of POST /chat/completions."""
    if reply.status >= 400:
        return {"error": {"message": reply.text, "type": "error", "param": None, "code": None, **reply.error}}
    refused = reply.finish == "refusal"
    message = {"role": "assistant", "content": None if refused else reply.text}
    if refused:
        message["refusal"] = reply.text
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{model}-2026-10-01",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "stop" if refused else reply.finish},
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "completion_tokens_details": {"reasoning_tokens": reply.thought},
            "prompt_tokens_details": {"cached_tokens": reply.cached, "cache_write_tokens": reply.written},
        },
    }


def anthropic_body(reply: Reply, model: str) -> dict[str, Any]:
    """Return a response of POST /v1/messages."""
    if reply.status >= 400:
        return {"type": "error", "error": {"type": "error", "message": reply.text, **reply.error}}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "x"}
    text = [{"type": "text", "text": reply.text}] if reply.text else []
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{model}-20261001",
        "content": [thinking, *text],
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}.get(reply.finish, reply.finish),
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100 - reply.cached - reply.written,
            "cache_read_input_tokens": reply.cached,
            "cache_creation_input_tokens": reply.written,
            "output_tokens": 10,
            "output_tokens_details": {"thinking_tokens": reply.thought},
        },
    }


def responses_body(reply: Reply, model: str) -> dict[str, Any]:
    """Return a response of POST /responses."""
    if reply.status >= 400:
        return openai_body(reply, model)
    kind, field_name = ("refusal", "refusal") if reply.finish == "refusal" else ("output_text", "text")
    part = {"type": kind, field_name: reply.text, "annotations": []}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    cut = reply.finish == "length"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "failed" if reply.finish == "failed" else "incomplete" if cut else "completed",
        "error": {"code": "server_error", "message": reply.text} if reply.finish == "failed" else None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "model": f"{model}-2026-10-01",
        "output": [{"id": "rs_1", "type": "reasoning", "summary": []}, *([message] if reply.text else [])],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": reply.cached, "cache_write_tokens": reply.written},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": reply.thought},
            "total_tokens": 110,
        },
    }


BODIES = {"messages": anthropic_body, "completions": openai_body, "responses": responses_body}
"""Response bodies by the last part of the path."""


def _pieces(text: str) -> list[str]:
    """Split a text into a few pieces."""
    size = max(1, -(-len(text) // 4))
    return [text[at : at + size] for at in range(0, len(text), size)]


def openai_stream(content: dict[str, Any], body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a streamed chat completion; tokens are counted only on request."""
    choice = content["choices"][0]
    head = {**content, "object": "chat.completion.chunk", "usage": None}
    field_name = "refusal" if "refusal" in choice["message"] else "content"
    deltas = [{field_name: piece} for piece in _pieces(choice["message"][field_name] or "")]
    events = [
        {
            **head,
            "choices": [
                {"index": 0, "delta": delta, "finish_reason": None, "logprobs": choice.get("logprobs")}
            ],
        }
        for delta in [{"role": "assistant"}, *deltas]
    ]
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append({**head, "choices": [], "usage": content["usage"]})
    return events


def anthropic_stream(content: dict[str, Any], _: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a streamed message; output tokens are counted at its end."""
    message = {
        **content,
        "content": [],
        "stop_reason": None,
        "usage": {**content["usage"], "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(content["content"]):
        kind = block["type"]
        empty = {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        for piece in _pieces(block[kind]):
            delta = {"type": f"{kind}_delta", kind: piece}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": content["stop_reason"], "stop_sequence": None}
    usage = {name: content["usage"][name] for name in ("output_tokens", "output_tokens_details")}
    return [*events, {"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]


def responses_stream(content: dict[str, Any], _: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a streamed response; the last one contains all of it."""
    parts = [part for item in content["output"] if item["type"] == "message" for part in item["content"]]
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**content, "output": []}}]
    for part in parts:
        kind, text = (
            ("refusal", part["refusal"]) if part["type"] == "refusal" else ("output_text", part["text"])
        )
        where = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
        events += [{"type": f"response.{kind}.delta", **where, "delta": piece} for piece in _pieces(text)]
    events.append({"type": f"response.{content['status']}", "response": content})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


STREAMS = {"messages": anthropic_stream, "completions": openai_stream, "responses": responses_stream}
"""Event streams by the last part of the path."""
