"""Passwords in the addresses of servers: sent, and nowhere else."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from promptpo.cli.app import run
from promptpo.llm.credentials import hide_credentials, restore_credentials, strip_credentials
from tests.promptpo.llm.wire_server import Reply, WireServer
from tests.promptpo.policies import GOOD

PASSWORD = "PASSWD123"  # noqa: S105 - of nobody
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
    """Names of the files that hold the password, as it is or as it is sent."""
    texts = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [name for name, text in texts.items() if PASSWORD.encode() in text or BASIC.encode() in text]


@pytest.mark.slow
def test_a_password_is_sent_and_written_nowhere(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither into a file of the run nor to the terminal; its folder is its owner's."""
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
    "said", [f"bad key Basic {BASIC}", f"bad key: Bearer {BASIC}", f"no http://user:{PASSWORD}@host"]
)
def test_a_password_that_is_said_back_is_struck_out(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    """A server may repeat what it was sent."""
    server.otherwise = Reply(said, status=401)
    assert optimize(server.address.replace("://", f"://user:{PASSWORD}@"), tmp_path / "run") == 1
    shown = "".join(capsys.readouterr())
    assert PASSWORD not in shown
    assert BASIC not in shown
    assert secret_files(tmp_path) == []


@pytest.mark.slow
def test_a_saved_password_is_refused(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence names the variable to use."""
    server.otherwise = Reply(f"```python\n{GOOD}\n```")
    out = tmp_path / "run"
    assert optimize(server.address, out) == 0
    config = out / "config.toml"
    config.write_text(config.read_text().replace("http://", f"http://user:{PASSWORD}@"))
    capsys.readouterr()
    for command in ("show", "resume"):
        assert run([command, str(out)]) == 1
        said = capsys.readouterr().err
        assert "OPENAI_BASE_URL" in said
        assert PASSWORD not in said


def test_an_address_gets_its_password_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """From this process's memory, or from the variable where that names the same address."""
    assert strip_credentials("https://a:b@host/v1?x=1") == "https://host/v1?x=1"
    assert restore_credentials("https://host/v1?x=1", "ANY") == "https://a:b@host/v1?x=1"
    monkeypatch.setenv("ANY", "https://c:d@other/v1")
    assert restore_credentials("https://other/v1", "ANY") == "https://c:d@other/v1"
    assert restore_credentials("https://third/v1", "ANY") == "https://third/v1"
    assert (
        hide_credentials("a@b, x https://u@h/p?q=a@b and ws://:p@h") == "a@b, x https://h/p?q=a@b and ws://h"
    )
