"""Policies and runs of a file's environment work from every directory."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from promptpo.cli.app import run as command_line
from tests.docs.snippets import ROOT

ROOM = ROOT / "examples" / "my_room.py"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment's file, a run of it and the exported policy."""
    folder = tmp_path_factory.mktemp("home")
    shutil.copy(ROOM, folder / "my_room.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = [
            "--model", "search", "--rounds", "1", "--max-steps", "4000", "--max-episode-steps", "50",
            "--test-episodes", "2", "--no-film",
        ]  # fmt: skip
        assert command_line(["optimize", "./my_room.py:Room", *words, "--out", "run"]) == 0
        assert command_line(["export", "run", "-o", "policy.py"]) == 0
    return folder


def test_own_export_needs_no_trust(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its environment may lie beside it or above; a modified file does need trust."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(home / "my_room.py", "my_room.py")
    Path("deep").mkdir()
    shutil.copy(home / "policy.py", "deep/mine.py")
    for policy in ("deep/mine.py", str(home / "policy.py"), str(home / "run")):
        assert command_line(["evaluate", policy, "--episodes", "1"]) == 0
        file = Path(policy) / "best.py" if policy.endswith("run") else Path(policy)
        play = [sys.executable, str(file.absolute()), "--episodes", "1"]
        subprocess.run(play, check=True, capture_output=True, cwd="/")
    Path("deep/mine.py").write_text(Path("deep/mine.py").read_text().replace("import", "import ", 1))
    capsys.readouterr()
    assert command_line(["evaluate", "deep/mine.py", "--episodes", "1"]) == 2
    assert "--trust" in capsys.readouterr().err


@pytest.mark.slow
def test_run_resumes_from_another_directory(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's file is recorded by its absolute path."""
    monkeypatch.chdir(tmp_path)
    assert command_line(["resume", str(home / "run"), "--no-film"]) == 0
    assert command_line(["report", str(home / "run")]) == 0


@pytest.mark.slow
def test_moved_environment_file_is_replaced_by_env(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the missing file; `python best.py` accepts --env, too."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(home, "copy")
    shutil.move("copy/policy.py", "policy.py")
    assert command_line(["evaluate", "policy.py", "--episodes", "1", "--trust"]) == 2
    assert "--env" in capsys.readouterr().err
    moved = f"{home / 'my_room.py'}:Room"
    assert (
        command_line(
            ["evaluate", "policy.py", "--episodes", "1", "--env", moved, "--max-episode-steps", "50"]
        )
        == 0
    )
    play = [sys.executable, "policy.py", "--episodes", "1"]
    failed = subprocess.run(play, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "--env" in failed.stderr
    assert "Traceback" not in failed.stderr
    subprocess.run([*play, "--env", moved], check=True, capture_output=True)


@pytest.mark.slow
def test_changed_environment_file_is_warned_about(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Showing, playing and resuming the run warn. An exported file may be anyone's and requires trust."""
    monkeypatch.chdir(tmp_path)
    run, file = str(home / "run"), home / "my_room.py"
    before = file.read_text()
    commands = (
        ["show", run],
        ["evaluate", run, "--episodes", "1"],
        ["evaluate", str(home / "policy.py"), "--episodes", "1", "--trust"],
        ["resume", run, "--no-film"],
    )
    for text, is_warned in ((before, False), (before + "\n# another one\n", True)):
        file.write_text(text)
        for words in commands:
            assert command_line(words) == 0
            captured = capsys.readouterr()
            assert (f"{file} changed after the run began" in captured.out + captured.err) == is_warned, words
    assert command_line(["evaluate", str(home / "policy.py"), "--episodes", "1"]) == 2
    refused = capsys.readouterr().err
    assert f"{file} has changed" in refused
    assert "--trust" in refused
    file.write_text(before)
    file.rename(home / "elsewhere.py")
    assert command_line(["show", run]) == 0
    (home / "elsewhere.py").rename(file)
