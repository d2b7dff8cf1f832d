"""Run commands in processes forked from one that has done all imports, which take longer than most commands."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from promptpo.rollouts import local
from tests.promptpo.warm import forked, one_core, serving, use_fork_server

MAIN = "from promptpo.__main__ import main\nmain()"


def start_process(
    code: str, words: Sequence[str], files: Sequence[int], *, cwd: Any, environment: Mapping[str, str]
) -> BaseProcess:
    """Start a process that runs a program.

    Args:
        code: Source of the program.
        words: Command-line arguments.
        files: Descriptors for standard input, output and errors.
        cwd: Working directory.
        environment: All environment variables.
    """
    connections = [Connection(os.dup(file)) for file in files]  # the only way to send a descriptor
    process: BaseProcess = forked("spawn").Process(
        target=_run, args=(code, words, connections, str(cwd), dict(environment), serving())
    )
    process.start()
    return process


class Command:
    """A running command whose output goes to pipes; has the methods of `subprocess.Popen`."""

    def __init__(
        self, words: Sequence[str], *, cwd: Any, environment: Mapping[str, str], code: str = MAIN
    ) -> None:
        (out, to_out), (errors, to_errors) = os.pipe(), os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        self._process = start_process(
            code, words, [nothing, to_out, to_errors], cwd=cwd, environment=environment
        )
        for file in (nothing, to_out, to_errors):
            os.close(file)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(errors)

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def communicate(self, timeout: float) -> tuple[int | None, str, str]:
        """Return the exit code and the remaining output; standard error must fit into a pipe."""
        printed = self.stdout.read(), self.stderr.read()
        self._process.join(timeout)
        return self.poll(), *printed


def run_command(
    words: Sequence[str], *, cwd: Any, environment: Mapping[str, str], seconds: float = 100, code: str = MAIN
) -> CompletedProcess[str]:
    """Return a command's output and exit code."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, open(os.devnull) as nothing:  # noqa: PTH123
        files = [file.fileno() for file in (nothing, out, errors)]
        process = start_process(code, words, files, cwd=cwd, environment=environment)
        process.join(seconds)
        assert process.exitcode is not None, "it does not end"
        out.seek(0)
        errors.seek(0)
        printed = [file.read().decode(errors="replace") for file in (out, errors)]
        return CompletedProcess(words, process.exitcode, *printed)


def run_file(path: Path, *options: str, cwd: Any = "/", seconds: float = 60) -> CompletedProcess[str]:
    """Run a file as a program in a process that cannot import promptpo, and return its output."""
    hidden = "import runpy, sys\nfor name in [*sys.modules]:\n    if name.startswith('promptpo'): sys.modules[name] = None\n"
    code = f"{hidden}sys.argv[0] = {str(path)!r}\nrunpy.run_path({str(path)!r}, run_name='__main__')"
    return run_command(options, cwd=cwd, environment=os.environ, seconds=seconds, code=code)


def _run(
    code: str,
    words: Sequence[str],
    files: Sequence[Connection],
    cwd: str,
    environment: Mapping[str, str],
    server: str,
) -> None:
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
        file.close()
    os.chdir(cwd)
    signal.pthread_sigmask(
        signal.SIG_UNBLOCK, {signal.SIGINT}
    )  # a worker's start may have started the server
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["promptpo", *words]
    sys.path.insert(0, cwd)
    local.usable_cores = one_core
    use_fork_server(server)
    try:
        exec(code, {"__name__": "__main__"})  # noqa: S102
    finally:
        atexit._run_exitfuncs()  # a fork ends without running them
