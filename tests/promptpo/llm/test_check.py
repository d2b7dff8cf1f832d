"""Keys, servers and model names are checked before anything is spent, at no cost if the server lists its models."""

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.errors import FatalProviderError
from promptpo.llm.choose import make_llm
from tests.promptpo.llm.wire_server import Reply, openai_body
from tests.promptpo.policies import WEAK


class ListingServer:
    """A server that lists models or fails with `status`, and answers calls with status `post`; it records requests."""

    def __init__(self, status: int, post: int = 500) -> None:
        self.asked: list[str] = []
        self.models: list[dict[str, str]] = [{"id": "small"}]
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                outer.asked.append(f"{self.command} {self.path}")
                found: Any = {
                    "object": "list",
                    "data": [{"object": "model", **each} for each in outer.models],
                }
                if self.command == "POST":
                    found = openai_body(Reply(WEAK), "small")
                body = json.dumps(found).encode()
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.send_response(status if self.command == "GET" else post)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer  # noqa: N815 - the library's names

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def serve() -> Iterator[Any]:
    """A function that starts servers, which are closed at the end."""
    servers: list[ListingServer] = []

    def start(status: int = 200, post: int = 500) -> ListingServer:
        servers.append(ListingServer(status, post))
        return servers[-1]

    yield start
    for each in servers:
        each.server.shutdown()
        each.server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_refused_key_ends_a_run_before_it_starts(
    serve: Any, provider: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """One sentence; no step is taken, no call is made and no folder is left."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-wrong")
    server = serve(401)
    out = tmp_path / "run"
    code = run(["optimize", "CartPole-v1", "--model", f"{provider}:small", "--base-url", server.address,
                "--out", str(out)])  # fmt: skip
    assert code == 1
    assert "refused the key" in capsys.readouterr().err
    assert [asked.split()[0] for asked in server.asked] == ["GET"]
    assert not out.exists()


def test_unlisted_model_is_refused(serve: Any, monkeypatch: Any) -> None:
    """A server without a list accepts any name."""

    def check_model(model: str, server: ListingServer) -> str | None:
        llm: Any = make_llm(model, base_url=server.address)
        found: str | None = asyncio.run(llm.check())
        return found

    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    listed, silent = serve(), serve(404)
    with pytest.raises(FatalProviderError, match=r"it has small; .*--no-check"):
        check_model("openai:large", listed)
    with pytest.raises(FatalProviderError, match=r"did you mean small\?"):
        check_model("openai:smal", listed)
    assert check_model("openai:small", listed) == ""
    assert check_model("openai:large", silent) is None


NO_WRITERS = [
    {"id": "text-embedding-3-small"}, {"id": "nomic-embed-text:latest"}, {"id": "mxbai-embed-large"}, {"id": "BAAI/bge-m3"},
    {"id": "bge-reranker-v2"}, {"id": "e5-mistral-7b"}, {"id": "whisper-1"}, {"id": "tts-1"}, {"id": "omni-moderation-latest"},
    {"id": "own-model", "type": "embeddings"}, {"id": "own-model", "mode": "embedding"}, {"id": "own-model", "type": "rerank"},
]  # fmt: skip
"""Entries of models that write no text, recognised by name or by the server's own field."""


@pytest.mark.parametrize("other", NO_WRITERS, ids=lambda each: "-".join(each.values()))
@pytest.mark.parametrize("asked", ["openai", "openai:gpt-9", "ollama:qwen", "openai:text-embedding-small"])
def test_a_model_that_writes_no_text_is_never_suggested(
    serve: Any, other: dict[str, str], asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text models are suggested in the form that --model takes; a list without any gets its own message."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    server = serve()
    server.models += [{"id": "qwen3-coder:30b", "type": "llm"}, other]
    llm: Any = make_llm(asked, base_url=server.address)
    with pytest.raises(FatalProviderError) as caught:
        asyncio.run(llm.check())
    suggestion = str(caught.value).partition("lists no such model")[2]
    assert other["id"] not in suggestion
    assert "it has qwen3-coder:30b, small;" in suggestion
    if asked == "openai":
        assert "write --model openai:qwen3-coder:30b." in suggestion
    server.models = [other]
    with pytest.raises(FatalProviderError, match="it has none that writes text"):
        asyncio.run(make_llm("ollama:qwen", base_url=server.address).check())


SHORT = ["--rounds", "1", "-n", "1", "--episodes", "1", "--validation-episodes", "1", "--test-episodes", "1",
         "--option", "probe=false", "--tune", "none", "--quiet", "--no-film"]  # fmt: skip


def calls(out: Path) -> list[Any]:
    """Return the calls in a run's journal."""
    events = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    return [event for event in events if event["kind"] == "completion"]


@pytest.mark.slow
def test_server_without_a_list_is_checked_by_one_counted_call(
    serve: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    """Each model has one, journaled before anything is played and not repeated on resume."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    server, out = serve(404, 200), tmp_path / "run"
    asked = ["optimize", "CartPole-v1", "--model", "openai:small", "--base-url", server.address, "--repair-model",
             "openai:other", *SHORT]  # fmt: skip
    assert run([*asked, "--out", str(out)]) == 0
    checks = [call for call in calls(out) if call["data"]["purpose"] == "check"]
    assert [(call["key"], call["data"]["provider"]) for call in checks] == [
        ("check.1", "openai:small"),
        ("check.2", "openai:other"),
    ]
    assert calls(out)[:2] == checks
    assert json.loads((out / "result.json").read_text())["llm"]["calls"] == len(calls(out))
    posts = sum(asked.startswith("POST") for asked in server.asked)
    assert run(["resume", str(out), "--rounds", "1", "--quiet"]) == 0
    assert sum(asked.startswith("POST") for asked in server.asked) == posts
    refusing = serve(404, 401)
    words = [refusing.address if word == server.address else word for word in asked]
    assert run([*words, "--no-check", "--out", str(tmp_path / "bare")]) == 1
    assert {asked.split()[0] for asked in refusing.asked} == {"POST"}
    assert (tmp_path / "bare" / "journal.jsonl").exists(), "what asks first is the run itself"


def test_failed_check_call_ends_a_run_before_it_starts(
    serve: Any, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """Its error is the run's; no step is taken and no folder is left."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    server, out = serve(404, 404), tmp_path / "run"
    assert run(["optimize", "CartPole-v1", "--model", "openai:small", "--base-url", server.address, *SHORT,
                "--out", str(out)]) == 1  # fmt: skip
    assert "does not know the model" in capsys.readouterr().err
    assert not out.exists()


def test_estimate_makes_no_request_and_needs_no_key(serve: Any, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = serve()
    words = ["optimize", "CartPole-v1", "--model", "openai:small", "--base-url", server.address, "--estimate"]
    assert run(words) == 0
    assert "Model: at most" in capsys.readouterr().out
    assert server.asked == []
