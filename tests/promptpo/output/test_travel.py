"""Policies and runs of an environment in a file work from every directory."""

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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment's file, a run of it and the run's exported policy, named from within the folder."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copy(ROOM, folder / "my_room.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = [
            "--model",
            "search",
            "--rounds",
            "1",
            "--max-steps",
            "4000",
            "--max-episode-steps",
            "50",
            "--test-episodes",
            "2",
            "--no-film",
        ]
        assert command_line(["optimize", "./my_room.py:Room", *words, "--out", "run"]) == 0
        assert command_line(["export", "run", "-o", "policy.py"]) == 0
    return folder


def test_an_own_export_is_played_without_a_question(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From anywhere while its environment is here, beside it or above; one that somebody has changed is asked about."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(made / "my_room.py", "my_room.py")
    Path("deep").mkdir()
    shutil.copy(made / "policy.py", "deep/mine.py")
    for policy in ("deep/mine.py", str(made / "policy.py"), str(made / "run")):
        assert command_line(["evaluate", policy, "--episodes", "1"]) == 0
        file = Path(policy) / "best.py" if policy.endswith("run") else Path(policy)
        play = [sys.executable, str(file.absolute()), "--episodes", "1"]
        subprocess.run(play, check=True, capture_output=True, cwd="/")
    Path("deep/mine.py").write_text(Path("deep/mine.py").read_text().replace("import", "import ", 1))
    capsys.readouterr()
    assert command_line(["evaluate", "deep/mine.py", "--episodes", "1"]) == 2
    assert "--trust" in capsys.readouterr().err


@pytest.mark.slow
def test_its_run_goes_on_from_another_directory(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is recorded by its whole path."""
    monkeypatch.chdir(tmp_path)
    assert command_line(["resume", str(made / "run"), "--no-film"]) == 0
    assert command_line(["report", str(made / "run")]) == 0


@pytest.mark.slow
def test_a_moved_file_has_a_cure(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence names the file and --env, which takes the new place; `python best.py` alike."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, "copy")
    shutil.move("copy/policy.py", "policy.py")
    assert command_line(["evaluate", "policy.py", "--episodes", "1", "--trust"]) == 2
    assert "--env" in capsys.readouterr().err
    moved = f"{made / 'my_room.py'}:Room"
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
def test_a_changed_file_is_told(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a sentence wherever its run is looked at, played or gone on with, which all still works; first nothing is said.

    What an exported file names may be anybody's: it then asks for trust.
    """
    monkeypatch.chdir(tmp_path)
    run, file = str(made / "run"), made / "my_room.py"
    before = file.read_text()
    asked = (
        ["show", run],
        ["evaluate", run, "--episodes", "1"],
        ["evaluate", str(made / "policy.py"), "--episodes", "1", "--trust"],
        ["resume", run, "--no-film"],
    )
    for text, told in ((before, False), (before + "\n# another one\n", True)):
        file.write_text(text)
        for words in asked:
            assert command_line(words) == 0
            said = capsys.readouterr()
            assert (f"{file} changed after the run began" in said.out + said.err) == told, words
    assert command_line(["evaluate", str(made / "policy.py"), "--episodes", "1"]) == 2
    refused = capsys.readouterr().err
    assert f"{file} has changed" in refused
    assert "--trust" in refused
    file.write_text(before)
    file.rename(made / "elsewhere.py")
    assert command_line(["show", run]) == 0
    (made / "elsewhere.py").rename(file)
