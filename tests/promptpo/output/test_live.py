"""The live report: local, read-only, one page, from the start of a run to its end."""

import http.client
import json
import os
import shutil
import signal
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run as command_line
from promptpo.output.live import draw_page
from promptpo.output.serving import ADDRESS, PageServer
from tests.promptpo.commands import Command

RECORDED = Path(__file__).parents[1] / "core" / "recorded" / "search"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A finished run."""
    return Path(shutil.copytree(RECORDED, tmp_path / "run"))


@pytest.fixture
def server(run: Path) -> Iterator[PageServer]:
    """A server for that run."""
    with PageServer(partial(draw_page, run)) as serving:
        yield serving


def port_of(server: PageServer) -> int:
    """Return the server's port."""
    return int(server.url.rstrip("/").rpartition(":")[2])


def ask(server: PageServer, method: str = "GET", path: str = "/", **headers: str) -> tuple[Any, str]:
    """Send a request; return (response, body)."""
    connection = http.client.HTTPConnection(ADDRESS, port_of(server), timeout=100)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response, text


def test_report_is_served(server: PageServer) -> None:
    """It must not be cached, and a finished run needs no refresh."""
    response, text = ask(server)
    assert response.status == 200
    assert response.getheader("Content-Type") == "text/html; charset=utf-8"
    assert response.getheader("Cache-Control") == "no-store"
    assert response.getheader("Refresh") is None
    assert "default-src 'none'" in text
    assert "held-out mean return" in text


@pytest.mark.parametrize("path", ["/journal.jsonl", "/config.toml", "/../run/origin", "/?a"])
def test_other_paths_are_not_found(server: PageServer, path: str) -> None:
    """No file of the directory is served."""
    response, text = ask(server, path=path)
    assert response.status == 404
    assert text == "There is one page here: /\n"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "ANYTHING"])
def test_other_methods_are_refused(server: PageServer, method: str) -> None:
    response, _ = ask(server, method)
    assert response.status == 501


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost:8000@evil", "[::1]:80", ""],
)
def test_foreign_host_name_is_refused(server: PageServer, host: str) -> None:
    """Guards against DNS rebinding."""
    response, text = ask(server, Host=host)
    assert response.status == 421
    assert "held-out" not in text
    for name in (
        f"localhost:{port_of(server)}",
        "localhost:8000",
        "127.0.0.1",
    ):  # a tunnel may use another port
        assert ask(server, Host=name)[0].status == 200


def test_server_listens_on_the_loopback_address_only(server: PageServer) -> None:
    with socket.create_server(("127.0.0.2", port_of(server))):
        pass  # free on another of this machine's addresses


def test_every_stage_of_a_run_has_a_page(tmp_path: Path) -> None:
    """The folder may be empty or have only a configuration."""
    whole = (RECORDED / "journal.jsonl").read_text().splitlines(keepends=True)
    run = tmp_path / "run"
    run.mkdir()
    with PageServer(partial(draw_page, run)) as server:
        for stage in ("empty", "config", *range(1, len(whole), 7)):
            if stage == "config":
                shutil.copy(RECORDED / "config.toml", run)
            elif isinstance(stage, int):
                (run / "journal.jsonl").write_text("".join(whole[:stage]))
            response, text = ask(server)
            assert response.status == 200, stage
            assert response.getheader("Refresh") == "5"
            if isinstance(stage, int):
                assert "Not finished" in text
        (run / "journal.jsonl").write_text("".join(whole))
        shutil.copy(RECORDED / "result.json", run)
        response, text = ask(server)
        assert response.getheader("Refresh") is None
        assert "held-out mean return" in text


def test_interrupt_stops_the_server_cleanly(run: Path) -> None:
    """The address is printed first; the exit status is 0."""
    words = ["report", str(run), "--live", "--json"]
    process = Command(words, cwd=run.parent, environment=os.environ)
    url = json.loads(process.stdout.readline())["url"]
    connection = http.client.HTTPConnection(ADDRESS, int(url.rstrip("/").rpartition(":")[2]), timeout=100)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    process.send_signal(signal.SIGINT)
    code, _, errors = process.communicate(timeout=100)
    assert (code, errors) == (0, "")
    assert not (run / "report.html").exists() or (RECORDED / "report.html").exists()


def test_invalid_arguments_are_one_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["report", str(run / "none"), "--live"]) == 2
    assert "there is no run" in capsys.readouterr().err
    with socket.create_server((ADDRESS, 0)) as taken:
        port = taken.getsockname()[1]
        assert command_line(["report", str(run), "--live", "--port", str(port)]) == 2
    assert f"cannot serve on port {port}" in capsys.readouterr().err
    assert command_line(["report", str(run), "--port", "8000"]) == 2
    assert "--port requires --live" in capsys.readouterr().err
