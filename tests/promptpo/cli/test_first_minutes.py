"""Mistakes of the first minutes: one's own environment, the key, the disk."""

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
def test_a_bug_in_ones_own_environment(
    folder: Any, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    """One sentence says what is wrong and where; no run is begun."""
    assert run(["optimize", f"{MODULE}:Buggy/{name}-v0", *QUICK, "--model", "search"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert re.search(words, said), said
    assert not (folder / "runs").exists()


def test_a_bug_that_only_a_policy_meets(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Found in a rollout, the line is told just the same, and the policy is not blamed."""
    (folder / "left.py").write_text(ALWAYS_LEFT)
    assert run(["evaluate", "left.py", "--env", f"{MODULE}:Buggy/LateBug-v0"]) == 1
    said = capsys.readouterr().err
    assert re.search(r"raised KeyError: 'wheel' \(.*buggy_environments.py, line \d+, in step\)", said), said


def test_a_wrong_value_that_only_a_policy_meets(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Found in a rollout, the sentence names environment, method, value and what is wanted just the same."""
    (folder / "left.py").write_text(ALWAYS_LEFT)
    assert run(["evaluate", "left.py", "--env", f"{MODULE}:Buggy/LateShape-v0"]) == 1
    said = capsys.readouterr().err
    assert re.search(r"step of .*LateShape-v0 returned an observation of shape \(3,\)", said), said


@pytest.fixture
def refusing() -> Iterator[Any]:
    """A server that refuses every key, as OpenAI's does."""

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


def test_a_wrong_key(
    folder: Any, refusing: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The variable is named, the key is not shown, and there is nothing to go on with."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    code = run(["optimize", "CartPole-v1", "--model", "openai:any", "--base-url", refusing, *QUICK])
    said = capsys.readouterr().err
    assert code == 1
    assert "refused the key in OPENAI_API_KEY" in said
    assert "sk-wrong" not in said
    assert "promptpo resume" not in said


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Any]:
    """Mounts small disks, for those who may."""
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
def test_a_disk_that_fills_up(disk: Any) -> None:
    """One sentence and the command to go on; with room again, that command ends the run."""
    small = disk("size=24k")
    done = promptpo("optimize", "CartPole-v1", *QUICK, "--candidates", "2", "--out", "run", cwd=small)
    assert (done.returncode, done.stdout) == (1, "")
    assert "No space left on device" in done.stderr.splitlines()[-1]
    assert ": promptpo resume run" in done.stderr
    subprocess.run(["mount", "-o", "remount,size=4m", str(small)], check=True)
    assert promptpo("resume", "run", "--quiet", "--no-film", cwd=small).returncode == 0
    assert json.loads((small / "run" / "result.json").read_text())["test"]["episodes"] > 0


@pytest.mark.slow
def test_a_disk_that_is_full_from_the_start(disk: Any) -> None:
    """Nothing is left that would look like a run; with room again, the same command works."""
    small = disk("size=8k")
    (small / "full").write_bytes(b"x" * 8192)
    command = ("optimize", "CartPole-v1", *QUICK, "--out", "run")
    done = promptpo(*command, cwd=small)
    told = "cannot write to run: No space left on device. Make room, then: the same command again"
    assert (done.returncode, done.stderr) == (1, f"promptpo: {told}\n")
    (small / "full").unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", str(small)], check=True)
    assert promptpo(*command, "--quiet", cwd=small).returncode == 0


@pytest.mark.parametrize(
    "command", [["optimize", "CartPole-v1", *QUICK, "--out"], ["spec", "CartPole-v1", "-o"]]
)
def test_a_place_that_cannot_be_written(disk: Any, capsys: pytest.CaptureFixture[str], command: Any) -> None:
    """The file or directory is named."""
    target = disk("size=64k,ro") / "out"
    assert run([*command, str(target)]) in {1, 2}
    assert re.search(rf"cannot write (to )?{Path(target)}: Read-only file system", capsys.readouterr().err)
