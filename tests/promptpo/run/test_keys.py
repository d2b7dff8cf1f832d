"""API keys are sent only to hosts that the user named."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import promptpo
from promptpo.core.config import Config
from promptpo.core.journal import JOURNAL
from promptpo.envs.task import Task
from promptpo.errors import PromptPOError, UsageError
from promptpo.run.origin import ORIGIN, save_own


class _Listener(BaseHTTPRequestHandler):
    """Records the keys that arrive."""

    keys: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        """Record the key and refuse."""
        self.keys.append(self.headers.get("Authorization") or "")
        self.send_error(400)

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


def test_keys_are_not_sent_to_a_foreign_runs_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with trust, until the user names the address."""
    server = HTTPServer(("127.0.0.1", 0), _Listener)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    save_own(Config(Task("CartPole-v1"), model="openai:any", base_url=address), tmp_path)
    (tmp_path / ORIGIN).unlink()
    (tmp_path / JOURNAL).touch()
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-mine")
    try:
        with pytest.raises(
            UsageError, match=f"asks openai:.* at {address} with your key.*--trust --base-url"
        ):
            promptpo.resume(tmp_path)
        with pytest.raises(UsageError, match="name it yourself"):
            promptpo.resume(tmp_path, trust=True)
        assert _Listener.keys == []
        promptpo.resume(tmp_path, trust=True, base_url=address, rounds=1)
    except PromptPOError as error:
        assert "--trust" not in str(error)  # noqa: PT017 - the server refuses
    finally:
        server.shutdown()
        server.server_close()
    assert _Listener.keys
    assert all("secret-of-mine" in key for key in _Listener.keys)
