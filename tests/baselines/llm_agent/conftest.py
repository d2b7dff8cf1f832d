"""A real HTTP server with scripted answers, raw and as chat, with and without log-probabilities."""

import math
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.baselines.icpi.completion_server import CompletionServerForTests


class ActingServer(CompletionServerForTests):
    """Answers by `script`.

    Attributes:
        script: Maps the whole prompt to the text of an answer.
        chances: Probabilities by label, sent with every answer; None for a server without them.
        refuses_logprobs: Answer 400 to requests for log-probabilities, as some models do.
        waits: An event that every answer waits for, after setting `asked`.
    """

    def __init__(self) -> None:
        super().__init__(None)
        self.script: Any = lambda prompt: "A"
        self.chances: Any = None
        self.refuses_logprobs = False
        self.waits: Any = None
        self.asked = threading.Event()
        self.answered = 0

    def answer(self, path: Any, body: Any) -> Any:
        """Answer as the parent does; waiting must not hold its lock."""
        if self.waits is not None:
            self.asked.set()
            self.waits.wait(100)
        if self.refuses_logprobs and body.get("logprobs"):
            with self._lock:
                self.seen.append((path, body))
            return (
                400,
                {},
                {"error": {"message": "logprobs is not supported by this model", "param": "logprobs"}},
            )
        if not path.endswith("/chat/completions"):
            return super().answer(path, body)
        with self._lock:
            self.seen.append((path, body))
            if self.works_for is not None and len(self.seen) > self.works_for:
                return 400, {}, {"error": {"message": "out of order"}}
            self.answered += 1
            prompt = "".join(message["content"] for message in body["messages"])
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": self.script(prompt)},
                "finish_reason": "stop",
            }
            if self.chances is not None and body.get("logprobs"):
                top = [
                    {"token": token, "logprob": math.log(p), "bytes": None}
                    for token, p in self.chances.items()
                ]
                first = {"token": "A", "logprob": 0.0, "bytes": None, "top_logprobs": top}
                choice["logprobs"] = {"content": [first], "refusal": None}
            usage = {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101}
            base = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
            return 200, {}, {**base, "choices": [choice], "usage": usage}

    def _raw(self, body: Any) -> Any:
        self.answered += 1
        choice = {"text": self.script(body["prompt"]), "index": 0, "finish_reason": "stop", "logprobs": None}
        if self.chances is not None and body.get("logprobs"):
            top = {token: math.log(p) for token, p in self.chances.items()}
            choice["logprobs"] = {
                "tokens": [],
                "token_logprobs": [],
                "text_offset": [],
                "top_logprobs": [top],
            }
        usage = {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101}
        base = {"id": "c", "object": "text_completion", "created": 1, "model": "m"}
        return 200, {}, {**base, "choices": [choice], "usage": usage}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server on 127.0.0.1; there is no API key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    running = ActingServer()
    yield running
    running.close()
