"""Keys, servers and names of models are tried before anything is spent, at no cost where a server lists its models."""

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


class Lists:
    """A server that lists models, refuses the key, or has no list; it counts what it was asked and answers calls by `post`."""

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
    """Servers that are closed at the end."""
    made: list[Lists] = []

    def one(status: int = 200, post: int = 500) -> Lists:
        made.append(Lists(status, post))
        return made[-1]

    yield one
    for each in made:
        each.server.shutdown()
        each.server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_refused_key_ends_a_run_before_a_step_is_taken(
    serve: Any, provider: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """One sentence; nothing was played or asked, and no run is left that holds its folder."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-wrong")
    server = serve(401)
    out = tmp_path / "run"
    code = run(["optimize", "CartPole-v1", "--model", f"{provider}:small", "--base-url", server.address,
                "--out", str(out)])  # fmt: skip
    assert code == 1
    assert "refused the key" in capsys.readouterr().err
    assert [asked.split()[0] for asked in server.asked] == ["GET"]
    assert not out.exists()


def test_a_name_that_a_server_does_not_list_is_said(serve: Any, monkeypatch: Any) -> None:
    """The run ends there, with the list; a listed one passes, and so does a server that has no list."""

    def said(model: str, server: Lists) -> str | None:
        llm: Any = make_llm(model, base_url=server.address)
        found: str | None = asyncio.run(llm.check())
        return found

    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    listed, silent = serve(), serve(404)
    with pytest.raises(FatalProviderError, match=r"it has small; .*--no-check"):
        said("openai:large", listed)
    with pytest.raises(FatalProviderError, match=r"did you mean small\?"):
        said("openai:smal", listed)
    assert said("openai:small", listed) == ""
    assert said("openai:large", silent) is None


NO_WRITERS = [
    {"id": "text-embedding-3-small"}, {"id": "nomic-embed-text:latest"}, {"id": "mxbai-embed-large"}, {"id": "BAAI/bge-m3"},
    {"id": "bge-reranker-v2"}, {"id": "e5-mistral-7b"}, {"id": "whisper-1"}, {"id": "tts-1"}, {"id": "omni-moderation-latest"},
    {"id": "own-model", "type": "embeddings"}, {"id": "own-model", "mode": "embedding"}, {"id": "own-model", "type": "rerank"},
]  # fmt: skip
"""Entries of lists, by name or by the server's own field."""


@pytest.mark.parametrize("other", NO_WRITERS, ids=lambda each: "-".join(each.values()))
@pytest.mark.parametrize("asked", ["openai", "openai:gpt-9", "ollama:qwen", "openai:text-embedding-small"])
def test_a_model_that_writes_no_text_is_never_suggested(
    serve: Any, other: dict[str, str], asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that does is, as it has to be written; nor is a server without any asked for what it has not."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    server = serve()
    server.models += [{"id": "qwen3-coder:30b", "type": "llm"}, other]
    llm: Any = make_llm(asked, base_url=server.address)
    with pytest.raises(FatalProviderError) as caught:
        asyncio.run(llm.check())
    said = str(caught.value).partition("lists no such model")[2]
    assert other["id"] not in said
    assert "it has qwen3-coder:30b, small;" in said
    if asked == "openai":
        assert "write --model openai:qwen3-coder:30b." in said
    server.models = [other]
    with pytest.raises(FatalProviderError, match="it has none that writes text"):
        asyncio.run(make_llm("ollama:qwen", base_url=server.address).check())


SHORT = ["--rounds", "1", "-n", "1", "--episodes", "1", "--validation-episodes", "1", "--test-episodes", "1",
         "--option", "probe=false", "--tune", "none", "--quiet", "--no-film"]  # fmt: skip


def calls(out: Path) -> list[Any]:
    """The calls in a run's journal."""
    events = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    return [event for event in events if event["kind"] == "completion"]


@pytest.mark.slow
def test_a_server_without_a_list_is_tried_by_one_call_that_is_counted(
    serve: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    """It is in the journal before anything is played, the model for repairs has one too, and none is made again."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    server, out = serve(404, 200), tmp_path / "run"
    asked = ["optimize", "CartPole-v1", "--model", "openai:small", "--base-url", server.address, "--repair-model",
             "openai:other", *SHORT]  # fmt: skip
    assert run([*asked, "--out", str(out)]) == 0
    tried = [call for call in calls(out) if call["data"]["purpose"] == "check"]
    assert [(call["key"], call["data"]["provider"]) for call in tried] == [
        ("check.1", "openai:small"),
        ("check.2", "openai:other"),
    ]
    assert calls(out)[:2] == tried
    assert json.loads((out / "result.json").read_text())["llm"]["calls"] == len(calls(out))
    posts = sum(asked.startswith("POST") for asked in server.asked)
    assert run(["resume", str(out), "--rounds", "1", "--quiet"]) == 0
    assert sum(asked.startswith("POST") for asked in server.asked) == posts
    refusing = serve(404, 401)
    words = [refusing.address if word == server.address else word for word in asked]
    assert run([*words, "--no-check", "--out", str(tmp_path / "bare")]) == 1
    assert {asked.split()[0] for asked in refusing.asked} == {"POST"}
    assert (tmp_path / "bare" / "journal.jsonl").exists(), "what asks first is the run itself"


def test_a_server_that_answers_no_call_ends_a_run_before_a_step_is_taken(
    serve: Any, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """Its error is the run's; nothing was played, and no run is left that holds its folder."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    server, out = serve(404, 404), tmp_path / "run"
    assert run(["optimize", "CartPole-v1", "--model", "openai:small", "--base-url", server.address, *SHORT,
                "--out", str(out)]) == 1  # fmt: skip
    assert "does not know the model" in capsys.readouterr().err
    assert not out.exists()


def test_an_estimate_asks_nothing_and_needs_no_key(serve: Any, capsys: Any, monkeypatch: Any) -> None:
    """Neither a server nor a provider hears of it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = serve()
    words = ["optimize", "CartPole-v1", "--model", "openai:small", "--base-url", server.address, "--estimate"]
    assert run(words) == 0
    assert "Model: at most" in capsys.readouterr().out
    assert server.asked == []
