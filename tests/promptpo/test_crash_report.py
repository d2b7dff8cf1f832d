"""A process that cannot say what ended it: another one does, in one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from promptpo.__main__ import main

BEGUN = "from promptpo.crash_report import OVER, note, watch\nwatch()\nimport contextlib, ctypes, os, pathlib, signal\n"

KILLS_ITS_CHILDREN = """
for status in pathlib.Path("/proc").glob("[0-9]*/status"):
    with contextlib.suppress(OSError):  # processes come and go
        if f"PPid:\\t{os.getpid()}\\n" in status.read_text():
            os.kill(int(status.parent.name), signal.SIGKILL)
"""


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
        ("os._exit(0)", "os._exit"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "from outside"),
    ],
)
def test_a_sudden_end_is_one_sentence(tmp_path: Path, end: str, says: str) -> None:
    """What ended it, where in the user's own file that is known, and how to go on where something was begun."""
    code, said = said_by(tmp_path, f"note('promptpo resume x')\ndef step():\n    {end}\nstep()\n")
    assert code != 0
    assert said.count("\n") == 1
    assert says in said
    assert said.endswith(": promptpo resume x\n")
    assert ("own.py, line 6, in step" in said) == ("outside" not in said)


@pytest.mark.parametrize(("end", "says"), [("os._exit(3)", "os._exit"), ("note(OVER); leave(0)", "")])
def test_a_forked_child_ends_with_its_process(tmp_path: Path, end: str, says: str) -> None:
    """It would hold the pipe by which the end is noticed; its environment does not tell whose it is."""
    forks = "import time\nchild = os.fork()\nif not child:\n    time.sleep(60)\n    os._exit(0)\n"
    kept = f"pathlib.Path({str(tmp_path / 'child')!r}).write_text(str(child))\n"
    began = time.monotonic()
    _, said = said_by(tmp_path, f"from promptpo.crash_report import leave\n{forks}{kept}{end}\n")
    assert time.monotonic() - began < 30
    assert says in said
    child = Path("/proc") / (tmp_path / "child").read_text() / "stat"
    assert not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("closed", [{0}, {2}, {0, 1, 2}])
def test_without_standard_streams_the_work_is_done_once(tmp_path: Path, closed: set[int]) -> None:
    """Also where the process that watches is killed before the end."""
    file, done = tmp_path / "own.py", tmp_path / "done"
    file.write_text(f"{BEGUN}open({str(done)!r}, 'a').write('once')\n{KILLS_ITS_CHILDREN}note(OVER)\n")

    def close() -> None:
        for stream in closed:
            os.close(stream)

    ended = subprocess.run([sys.executable, str(file)], preexec_fn=close, check=False)
    assert ended.returncode == 0
    assert done.read_text() == "once"


def test_before_a_run_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    """The sentence alone."""
    assert "go on" not in said_by(tmp_path, "ctypes.string_at(0)")[1]


def test_an_end_that_speaks_for_itself_is_left_alone(tmp_path: Path) -> None:
    """An error has a sentence of its own, and a child's death is not that of the run."""
    dies = "os.fork() or ctypes.string_at(0)\nos.wait()\n"
    assert said_by(tmp_path, f"{dies}note(OVER)\n") == (0, "")


@pytest.mark.parametrize(("fault", "code"), [("KeyboardInterrupt: ", 130), ("broken", 1)])
def test_ctrl_c_inside_compiled_code_is_a_stop(
    fault: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Extension modules make an error of their own of it; any other error stays one."""
    codes: list[int] = []

    def run(_: object) -> int:
        raise SystemError(fault)

    monkeypatch.setattr("promptpo.cli.app.run", run)
    monkeypatch.setattr("promptpo.__main__.watch", lambda: None)
    monkeypatch.setattr("promptpo.__main__.leave", codes.append)
    before = signal.getsignal(signal.SIGTERM)
    main()
    signal.signal(signal.SIGTERM, before)
    assert codes == [code]
    said = capsys.readouterr().err
    assert said == "promptpo: stopped.\n" if code == 130 else "SystemError: broken" in said


def test_a_script_that_is_killed_takes_its_groups_along(tmp_path: Path) -> None:
    """Also where a command to continue with is noted after a group; the output ends when the group does."""
    script = """
import os, signal, subprocess
from promptpo.crash_report import note, note_group
note_group(subprocess.Popen(["sleep", "300"], start_new_session=True).pid)
note("promptpo resume run")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert done.stderr == ""
