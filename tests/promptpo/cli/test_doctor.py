"""`promptpo doctor`: its findings, and that it never prints a key."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from promptpo.cli import doctor
from promptpo.cli.app import run as command

SECRET = "sk-not-to-be-seen"  # noqa: S105


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A local server with one model."""

    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": [{"id": "tiny"}]}).encode())

        def log_message(self, *_: Any) -> None:
            pass

    httpd = HTTPServer(("127.0.0.1", 0), Models)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    address = f"http://localhost:{httpd.server_port}/v1"
    monkeypatch.setattr(doctor, "LOCAL_SERVERS", {"ollama": address, "vllm": "http://localhost:1/v1"})
    yield address
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def test_finds_keys_servers_and_packages(
    server: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keys appear by name only, and the local server with its model."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(doctor, "find_spec", lambda name: name != "mujoco" or None)
    assert command(["doctor", "--json"]) == 0
    text = capsys.readouterr().out
    assert SECRET not in text
    findings = json.loads(text)
    topics = {finding["topic"] for finding in findings}
    assert topics >= {
        "python",
        "packages",
        "extras",
        "model",
        "local server",
        "sandbox",
        "rendering",
        "machine",
        "disk",
    }
    assert any("ANTHROPIC_API_KEY is set" in finding["text"] for finding in findings)
    servers = [finding for finding in findings if finding["topic"] == "local server"]
    assert [finding["text"] for finding in servers] == [f"ollama at {server}: tiny"]
    assert servers[0]["cure"] == "--model ollama:tiny"
    assert next(finding for finding in findings if finding["topic"] == "rendering")["state"] == "ok"


def test_problem_is_printed_with_its_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1 when a run would fail."""

    def examined() -> Iterator[Any]:
        yield doctor.Finding("sandbox", "problem", "no layers", "get layers")

    monkeypatch.setattr(doctor, "examine", examined)
    assert command(["doctor"]) == 1
    assert "FAIL  sandbox       no layers  -> get layers" in capsys.readouterr().out


def test_full_disk_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than half a gigabyte of free space is reported."""
    usage = type("Usage", (), {"free": 10_000_000})
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage)
    [(state, *_)] = doctor._check_disk()
    assert state == "problem"
