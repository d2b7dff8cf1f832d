"""Passwords in server addresses are sent to the server and appear nowhere else."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from promptpo.cli.app import run
from promptpo.llm.credentials import hide_credentials, restore_credentials, strip_credentials
from tests.promptpo.llm.wire_server import Reply, WireServer
from tests.promptpo.policies import GOOD

PASSWORD = "PASSWD123"  # noqa: S105 - a made-up password
BASIC = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
SMALL = ["--rounds", "1", "-n", "1", "--episodes", "2", "--validation-episodes", "2", "--test-episodes", "2", "--max-steps", "3000", "--no-film"]  # fmt: skip


def optimize(address: str, out: Path, provider: str = "openai") -> int:
    """Run a small search with a server at an address."""
    return run(
        [
            "optimize",
            "CartPole-v1",
            "--model",
            f"{provider}:m",
            "--base-url",
            address,
            "--out",
            str(out),
            *SMALL,
        ]
    )


def secret_files(folder: Path) -> list[str]:
    """Return the names of files that contain the password, plain or encoded."""
    texts = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [name for name, text in texts.items() if PASSWORD.encode() in text or BASIC.encode() in text]


@pytest.mark.slow
def test_password_is_sent_but_not_written(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's folder is readable by its owner only."""
    address = server.address.replace("://", f"://user:{PASSWORD}@") + "/v1"
    monkeypatch.setattr("sys.argv", ["promptpo", "optimize", "CartPole-v1", "--base-url", address])
    server.otherwise = Reply(f"```python\n{GOOD}\n```")
    out = tmp_path / "runs" / "run"
    assert optimize(address, out) == 0
    sent = {
        value
        for seen in server.seen
        for name, value in seen.headers.items()
        if name.lower() == "authorization"
    }
    assert any(value.endswith(BASIC) for value in sent), sent
    assert secret_files(out) == []
    assert PASSWORD not in "".join(capsys.readouterr())
    assert server.address.partition("//")[2] in (out / "config.toml").read_text()
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert stat.S_IMODE((out / "policies").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "error", [f"bad key Basic {BASIC}", f"bad key: Bearer {BASIC}", f"no http://user:{PASSWORD}@host"]
)
def test_password_in_a_servers_error_is_hidden(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], error: str
) -> None:
    server.otherwise = Reply(error, status=401)
    assert optimize(server.address.replace("://", f"://user:{PASSWORD}@"), tmp_path / "run") == 1
    output = "".join(capsys.readouterr())
    assert PASSWORD not in output
    assert BASIC not in output
    assert secret_files(tmp_path) == []


@pytest.mark.slow
def test_password_in_a_saved_config_is_refused(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence names the variable to use instead."""
    server.otherwise = Reply(f"```python\n{GOOD}\n```")
    out = tmp_path / "run"
    assert optimize(server.address, out) == 0
    config = out / "config.toml"
    config.write_text(config.read_text().replace("http://", f"http://user:{PASSWORD}@"))
    capsys.readouterr()
    for command in ("show", "resume"):
        assert run([command, str(out)]) == 1
        err = capsys.readouterr().err
        assert "OPENAI_BASE_URL" in err
        assert PASSWORD not in err


def test_credentials_are_restored_to_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """From this process's memory, or from the variable if it names the same address."""
    assert strip_credentials("https://a:b@host/v1?x=1") == "https://host/v1?x=1"
    assert restore_credentials("https://host/v1?x=1", "ANY") == "https://a:b@host/v1?x=1"
    monkeypatch.setenv("ANY", "https://c:d@other/v1")
    assert restore_credentials("https://other/v1", "ANY") == "https://c:d@other/v1"
    assert restore_credentials("https://third/v1", "ANY") == "https://third/v1"
    assert (
        hide_credentials("a@b, x https://u@h/p?q=a@b and ws://:p@h") == "a@b, x https://h/p?q=a@b and ws://h"
    )
