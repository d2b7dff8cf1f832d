"""Keys, servers and names of models are tried before anything is spent, at no cost."""

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.llm.choose import make_llm


class Lists:
    """A server that lists models, or refuses the key; it counts what it was asked."""

    def __init__(self, status: int) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                outer.asked.append(f"{self.command} {self.path}")
                body = json.dumps({"object": "list", "data": [{"id": "small", "object": "model"}]}).encode()
                self.send_response(status if self.command == "GET" else 500)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer  # noqa: N815 - the library's names

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def serve() -> Iterator[Any]:
    """Servers that are closed at the end."""
    made: list[Lists] = []

    def one(status: int = 200) -> Lists:
        made.append(Lists(status))
        return made[-1]

    yield one
    for each in made:
        each.server.shutdown()
        each.server.server_close()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_refused_key_ends_a_run_before_a_step_is_taken(
    serve: Any, provider: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """One sentence; nothing in the journal was played or asked."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-wrong")
    server = serve(401)
    out = tmp_path / "run"
    code = run(["optimize", "CartPole-v1", "--model", f"{provider}:small", "--base-url", server.address,
                "--out", str(out)])  # fmt: skip
    assert code == 1
    assert "refused the key" in capsys.readouterr().err
    assert [asked.split()[0] for asked in server.asked] == ["GET"]
    assert '"steps"' not in (out / "journal.jsonl").read_text()


def test_a_name_that_a_server_does_not_list_is_said(serve: Any, monkeypatch: Any) -> None:
    """Its list is told; a listed one passes, and so does a server that has no list."""

    def said(model: str, server: Lists) -> str:
        llm: Any = make_llm(model, base_url=server.address)
        return str(asyncio.run(llm.check()))

    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    listed, silent = serve(), serve(404)
    assert "it has small" in said("openai:large", listed)
    assert said("openai:small", listed) == ""
    assert said("openai:large", silent) == ""
