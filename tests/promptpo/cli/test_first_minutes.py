"""Mistakes that new users make: in their environment, their key or their disk."""

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from tests.promptpo.cli.test_command_line import QUICK, promptpo

MODULE = "tests.promptpo.cli.buggy_environments"
ALWAYS_LEFT = "class Policy:\n    def act(self, obs):\n        return 0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("StepBug", r"'StepBug' object has no attribute 'misspelt' \(.*buggy_environments.py, line \d+, in step\)"),
        ("ResetBug", r"ZeroDivisionError: .*buggy_environments.py, line \d+, in reset\)"),
        ("NoSpaces", r"building the environment .* raised .*'observation_space'"),
        ("NoObservation", r"step of .*NoObservation-v0 returned None as the observation \(buggy_environments.py, line \d+\)"),
        ("NoReward", r"step of .*NoReward-v0 returned None as the reward .*must return a number"),
        ("NaNReward", r"step of .*NaNReward-v0 returned nan as the reward .*must return a finite number"),
        ("TextReward", r"step of .*TextReward-v0 returned 'one' as the reward"),
        ("WrongShape", r"step of .*WrongShape-v0 returned an observation of shape \(3,\) .*numbers of shape \(2,\)"),
        ("WrongStart", r"reset of .*WrongStart-v0 returned an observation of shape \(2, 2\)"),
        ("NoInfo", r"step of .*NoInfo-v0 returned None as the info .*return a dict"),
    ],
)  # fmt: skip
def test_bug_in_the_users_environment_is_located(
    folder: Any, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    """One sentence says what is wrong and where, and no run starts."""
    assert run(["optimize", f"{MODULE}:Buggy/{name}-v0", *QUICK, "--model", "search"]) == 1
    last_line = capsys.readouterr().err.splitlines()[-1]
    assert re.search(words, last_line), last_line
    assert not (folder / "runs").exists()


def test_bug_during_a_rollout_is_located(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The environment is blamed, not the policy."""
    (folder / "left.py").write_text(ALWAYS_LEFT)
    assert run(["evaluate", "left.py", "--env", f"{MODULE}:Buggy/LateBug-v0"]) == 1
    err = capsys.readouterr().err
    assert re.search(r"raised KeyError: 'wheel' \(.*buggy_environments.py, line \d+, in step\)", err), err


def test_wrong_value_during_a_rollout_is_located(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence names the environment, the method and the value."""
    (folder / "left.py").write_text(ALWAYS_LEFT)
    assert run(["evaluate", "left.py", "--env", f"{MODULE}:Buggy/LateShape-v0"]) == 1
    err = capsys.readouterr().err
    assert re.search(r"step of .*LateShape-v0 returned an observation of shape \(3,\)", err), err


@pytest.fixture
def refusing_server() -> Iterator[Any]:
    """The address of a server that refuses every key, as OpenAI's does."""

    class Refuse(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            error = {"message": "Incorrect API key provided: sk-wrong.", "code": "invalid_api_key"}
            body = json.dumps({"error": error}).encode()
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuse)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_wrong_key_names_the_variable_but_not_the_key(
    folder: Any, refusing_server: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No command to resume is suggested, since nothing has run."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    code = run(["optimize", "CartPole-v1", "--model", "openai:any", "--base-url", refusing_server, *QUICK])
    err = capsys.readouterr().err
    assert code == 1
    assert "refused the key in OPENAI_API_KEY" in err
    assert "sk-wrong" not in err
    assert "promptpo resume" not in err


@pytest.fixture
def mount_disk(tmp_path: Path) -> Iterator[Any]:
    """A function that mounts a small disk; skips unless run as root."""
    mounted = []

    def mount(options: Any) -> Any:
        path = tmp_path / f"disk{len(mounted)}"
        path.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(path)], check=False)
        if done.returncode:
            pytest.skip("only root may mount a small disk")
        mounted.append(path)
        return path

    if os.geteuid():
        pytest.skip("only root may mount a small disk")
    yield mount
    for path in mounted:
        subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.mark.slow
def test_disk_that_fills_up(mount_disk: Any) -> None:
    """The sentence contains the command that finishes the run once there is space again."""
    folder = mount_disk("size=24k")
    done = promptpo("optimize", "CartPole-v1", *QUICK, "--candidates", "2", "--out", "run", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "No space left on device" in done.stderr.splitlines()[-1]
    assert ": promptpo resume run" in done.stderr
    subprocess.run(["mount", "-o", "remount,size=4m", str(folder)], check=True)
    assert promptpo("resume", "run", "--quiet", "--no-film", cwd=folder).returncode == 0
    assert json.loads((folder / "run" / "result.json").read_text())["test"]["episodes"] > 0


@pytest.mark.slow
def test_disk_that_is_full_from_the_start(mount_disk: Any) -> None:
    """Nothing that looks like a run is left, and the same command works once there is space."""
    folder = mount_disk("size=8k")
    (folder / "full").write_bytes(b"x" * 8192)
    command = ("optimize", "CartPole-v1", *QUICK, "--out", "run")
    done = promptpo(*command, cwd=folder)
    message = "cannot write to run: No space left on device. Make room, then: the same command again"
    assert (done.returncode, done.stderr) == (1, f"promptpo: {message}\n")
    (folder / "full").unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", str(folder)], check=True)
    assert promptpo(*command, "--quiet", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    "command", [["optimize", "CartPole-v1", *QUICK, "--out"], ["spec", "CartPole-v1", "-o"]]
)
def test_unwritable_output_is_named(
    mount_disk: Any, capsys: pytest.CaptureFixture[str], command: Any
) -> None:
    target = mount_disk("size=64k,ro") / "out"
    assert run([*command, str(target)]) in {1, 2}
    assert re.search(rf"cannot write (to )?{Path(target)}: Read-only file system", capsys.readouterr().err)
