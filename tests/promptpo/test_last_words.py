"""A process that cannot say what ended it: another one does, in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BEGUN = "from promptpo.last_words import OVER, note, watch\nwatch()\nimport ctypes, os, signal\n"


def said_by(tmp_path: Path, code: str) -> tuple[int, str]:
    """Exit code and standard error of a process that is watched."""
    file = tmp_path / "own.py"
    file.write_text(BEGUN + code)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("end", "says"),
    [
        ("ctypes.string_at(0)", "segmentation fault"),
        ("os.abort()", "aborted"),
        ("os._exit(3)", "os._exit"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "from outside"),
    ],
)
def test_a_sudden_end_is_one_sentence(tmp_path: Path, end: str, says: str) -> None:
    """What ended it, where in the user's own file that is known, and how to go on where something was begun."""
    code, said = said_by(tmp_path, f"note('promptpo resume x')\ndef step():\n    {end}\nstep()\n")
    assert code != 0
    assert said.count("\n") == 1
    assert says in said
    assert said.endswith("go on with: promptpo resume x\n")
    assert ("own.py, line 6, in step" in said) == ("fault" in said)


def test_before_a_run_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    """The sentence alone."""
    assert "go on" not in said_by(tmp_path, "ctypes.string_at(0)")[1]


def test_an_end_that_speaks_for_itself_is_left_alone(tmp_path: Path) -> None:
    """An error has a sentence of its own, and a child's death is not that of the run."""
    dies = "os.fork() or ctypes.string_at(0)\nos.wait()\n"
    assert said_by(tmp_path, f"{dies}note(OVER)\n") == (0, "")
