"""Output on a real pseudo-terminal: wide, narrow and without UTF-8."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from promptpo.display.console import wrap
from tests.promptpo.cli.test_command_line import QUICK
from tests.promptpo.commands import MAIN, start_process

ROOT = Path(__file__).parents[3]


def on_terminal(*arguments: Any, columns: Any, cwd: Any, code: str = MAIN, **more: Any) -> Any:
    """Run a command or a program on a terminal of this width; return what it showed and its exit code.

    With variables in `more` it runs in a fresh interpreter, since a fork has read its environment already.

    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")} | {
        "TERM": "xterm",
        **more,
    }
    environment.pop("COLUMNS", None)
    environment |= {"PYTHONPATH": str(ROOT)}
    process: Any = (
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=cwd,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        if more
        else start_process(code, arguments, [theirs] * 3, cwd=cwd, environment=environment)
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    if more:
        return shown.decode("utf-8", "replace"), process.wait()
    process.join()
    return shown.decode("utf-8", "replace"), process.exitcode


def test_long_lines_break_between_words() -> None:
    """Continuations are indented further; paths and commands stay whole for copying, short lines as they are."""
    path = "/a/very/long/path/of/a/run"
    text = f"  Steps: of 600 at most 240 try four\nshort  line\ngo on with: promptpo resume {path} --json\n\n{path}"
    assert wrap(text, 20).splitlines() == [
        "  Steps: of 600 at",
        "    most 240 try",
        "    four",
        "short  line",
        "go on with:",
        f"promptpo resume {path} --json",
        "",
        path,
    ]
    assert wrap(text, 200) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "more"),
    [(40, {}), (80, {"NO_COLOR": "1", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})],
    ids=["narrow", "neither colours nor utf-8"],
)
def test_live_view_works_on_every_terminal(tmp_path: Path, columns: int, more: Any) -> None:
    """The run ends with its result on the screen, without a traceback; test_odd_texts covers a wide terminal."""
    shown, code = on_terminal("optimize", "CartPole-v1", *QUICK, columns=columns, cwd=tmp_path, **more)
    assert code == 0, shown
    assert "Traceback" not in shown
    assert "Held-out return" in shown
    result = shown[shown.index("Stopped: ") :].splitlines()
    assert all(len(line) <= columns for line in result if " " in line)
