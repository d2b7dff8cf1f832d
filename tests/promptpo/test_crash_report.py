"""One process reports in a sentence what ended another that cannot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from promptpo.__main__ import main

WATCHED = "from promptpo.crash_report import OVER, note, watch\nwatch()\nimport contextlib, ctypes, os, pathlib, signal\n"

KILLS_ITS_CHILDREN = """
for status in pathlib.Path("/proc").glob("[0-9]*/status"):
    with contextlib.suppress(OSError):  # processes come and go
        if f"PPid:\\t{os.getpid()}\\n" in status.read_text():
            os.kill(int(status.parent.name), signal.SIGKILL)
"""


def run_watched(tmp_path: Path, code: str) -> tuple[int, str]:
    """Return exit code and standard error of a watched process."""
    file = tmp_path / "own.py"
    file.write_text(WATCHED + code)
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
def test_sudden_end_gets_one_sentence(tmp_path: Path, end: str, says: str) -> None:
    """It has the cause, the user's line if it is known, and the command to resume."""
    code, err = run_watched(tmp_path, f"note('promptpo resume x')\ndef step():\n    {end}\nstep()\n")
    assert code != 0
    assert err.count("\n") == 1
    assert says in err
    assert err.endswith(": promptpo resume x\n")
    assert ("own.py, line 6, in step" in err) == ("outside" not in err)


@pytest.mark.parametrize(("end", "says"), [("os._exit(3)", "os._exit"), ("note(OVER); leave(0)", "")])
def test_forked_child_ends_with_its_process(tmp_path: Path, end: str, says: str) -> None:
    """Otherwise it would hold the pipe open whose end signals that the process has ended."""
    forks = "import time\nchild = os.fork()\nif not child:\n    time.sleep(60)\n    os._exit(0)\n"
    kept = f"pathlib.Path({str(tmp_path / 'child')!r}).write_text(str(child))\n"
    began = time.monotonic()
    _, err = run_watched(tmp_path, f"from promptpo.crash_report import leave\n{forks}{kept}{end}\n")
    assert time.monotonic() - began < 30
    assert says in err
    child = Path("/proc") / (tmp_path / "child").read_text() / "stat"
    assert not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("closed", [{0}, {2}, {0, 1, 2}])
def test_without_standard_streams_the_work_is_done_once(tmp_path: Path, closed: set[int]) -> None:
    """This holds even if the watching process is killed first."""
    file, done = tmp_path / "own.py", tmp_path / "done"
    file.write_text(f"{WATCHED}open({str(done)!r}, 'a').write('once')\n{KILLS_ITS_CHILDREN}note(OVER)\n")

    def close() -> None:
        for stream in closed:
            os.close(stream)

    completed = subprocess.run([sys.executable, str(file)], preexec_fn=close, check=False)
    assert completed.returncode == 0
    assert done.read_text() == "once"


def test_no_command_to_resume_before_a_run(tmp_path: Path) -> None:
    assert "go on" not in run_watched(tmp_path, "ctypes.string_at(0)")[1]


def test_regular_end_is_not_reported(tmp_path: Path) -> None:
    """The crash of a child does not count as the run's."""
    dies = "os.fork() or ctypes.string_at(0)\nos.wait()\n"
    assert run_watched(tmp_path, f"{dies}note(OVER)\n") == (0, "")


@pytest.mark.parametrize(("fault", "code"), [("KeyboardInterrupt: ", 130), ("broken", 1)])
def test_ctrl_c_inside_compiled_code_is_a_stop(
    fault: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Extension modules turn it into a SystemError; any other SystemError stays an error."""
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
    err = capsys.readouterr().err
    assert err == "promptpo: stopped.\n" if code == 130 else "SystemError: broken" in err


def test_killed_script_ends_its_process_groups(tmp_path: Path) -> None:
    """A command to resume may be noted after a group."""
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


@pytest.mark.parametrize("kind", ["SIGTERM", "SIGINT"])
def test_a_signal_while_the_command_line_is_loaded_prints_no_traceback(tmp_path: Path, kind: str) -> None:
    """Nothing has begun that needs an orderly end; whichever signal it is, one sentence says that it stopped."""
    code = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "promptpo.cli.app":
            os.kill(os.getpid(), signal.{kind})
sys.meta_path.insert(0, Finder())
from promptpo.__main__ import main
main()
"""
    command = [sys.executable, "-c", code, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode in {-signal.SIGTERM, 130}
    assert done.stderr.startswith("promptpo: stopped")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["SIGTERM", "SIGINT"])
def test_a_signal_while_a_command_ends_changes_neither_its_code_nor_its_output(
    tmp_path: Path, kind: str
) -> None:
    """The work is done and its code decided, so nothing is left to stop."""
    code = f"""
import os, signal, sys
from promptpo import crash_report
from promptpo.__main__ import main
def end():
    os.kill(os.getpid(), signal.{kind})
    os.kill(os.getpid(), signal.SIGINT)
crash_report.end_children = end
main()
"""
    command = [sys.executable, "-c", code, "optimize", "CartPole-v1", "--rounds", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("promptpo: ")
