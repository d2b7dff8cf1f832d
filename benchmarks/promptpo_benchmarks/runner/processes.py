"""Running cells: processes in parallel, finished cells skipped, failed ones reported."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from promptpo.errors import RunError
from promptpo.output.report import write_atomically
from promptpo.rollouts.local import die_with_parent
from promptpo_benchmarks.runner.answers import AnswerCap
from promptpo_benchmarks.runner.cells import Cell
from promptpo_benchmarks.runner.methods import CellBudget
from promptpo_benchmarks.runner.suite import Suite

FAILURES = "failures.json"
LIMIT = 4 * 3600.0
"""Default time limit of a cell, in seconds."""
NO_ANSWERS_LEFT = "not started: it needs more answers than --max-calls leaves"
SAVING_SECONDS = 20
"""Time for an interrupted cell to write its results."""


@dataclass(frozen=True, slots=True)
class FailedCell:
    """A cell that ended without a result.

    Attributes:
        cell: Its name.
        code: Exit code of its process; negative for a signal.
        message: The last line of its output.
        log: File with its output.
    """

    cell: str
    code: int
    message: str
    log: str


class CellRunner:
    """Runs cells as processes of their own.

    Args:
        suite: Defines the cells' budgets.
        budget: Overrides them.
        jobs: Maximum number of concurrent processes.
        tell: Called with a line whenever a cell ends.
        limit: Seconds after which a cell is killed and has failed, so that one that hangs does not block others; None
            takes `LIMIT`, except for cells answered by hand.
    """

    def __init__(
        self,
        suite: Suite,
        budget: CellBudget,
        jobs: int,
        tell: Callable[[str], None],
        limit: float | None = None,
    ) -> None:
        self._suite, self._budget, self._jobs, self._tell = suite, budget, jobs, tell
        self._limit = limit
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False
        self._answers = AnswerCap([], suite, budget)

    def run(self, cells: Sequence[Cell]) -> list[FailedCell]:
        """Run the cells that have no result yet.

        Ctrl-C and SIGTERM are passed on to the running cells, which end with the best they have; the next call
        continues.

        Returns:
            The cells that failed, in the order of `cells`.
        """
        todo = [cell for cell in cells if cell.result is None]
        self._answers = AnswerCap(cells, self._suite, self._budget)
        failures: dict[str, FailedCell] = {}
        with ThreadPoolExecutor(self._jobs) as pool, _terminable():
            futures = {pool.submit(self._run_cell, cell): cell for cell in todo}
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    cell, failure = futures[future], future.result()
                    if failure is not None:
                        failures[cell.name] = failure
                    outcome = f"failed: {failure.message}" if failure else "done"
                    self._tell(f"[{done}/{len(todo)}] {cell.name}: {outcome}")
            except KeyboardInterrupt:
                self._stop()
                raise
        return [failures[cell.name] for cell in cells if cell.name in failures]

    def _run_cell(self, cell: Cell) -> FailedCell | None:
        if self._stopped:
            return None
        calls = self._answers.grant(cell)
        if calls == 0:
            return FailedCell(cell.name, 0, NO_ANSWERS_LEFT, str(cell.log))
        limit = self._limit or (None if cell.by_hand else LIMIT)
        cell.directory.parent.mkdir(parents=True, exist_ok=True)
        with cell.log.open("wb") as log:
            process = subprocess.Popen(
                cell.command(self._suite, self._budget, calls),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # so that its workers can be ended with it
                # An orphaned cell would keep the next pass out of its run.
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no lock
            )
            with self._register(process):
                in_time = _wait_or_kill(process, limit)
        self._answers.settle(cell)
        if cell.result is not None:
            return None
        message = _last_line(cell.log) if in_time else f"not finished after {limit:g} seconds"
        return FailedCell(cell.name, process.returncode, message, str(cell.log))

    @contextmanager
    def _register(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        with self._lock:
            self._running.add(process)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(process)

    def _stop(self) -> None:
        """Ask the running cells to end, and kill those that do not."""
        self._stopped = True
        with self._lock:
            running = list(self._running)
        for process in running:
            process.send_signal(signal.SIGINT)
        for process in running:
            _wait_or_kill(process, SAVING_SECONDS)


@contextmanager
def _terminable() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C; otherwise the cells would outlive the benchmark."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _wait_or_kill(process: subprocess.Popen[bytes], limit: float | None) -> bool:
    """Wait for a process; after the limit, kill it with all its children and return False."""
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def write_failures(root: Path, failures: Sequence[FailedCell]) -> None:
    """Record which cells failed in the last pass."""
    rows = [{"cell": f.cell, "code": f.code, "message": f.message, "log": f.log} for f in failures]
    write_atomically(root / FAILURES, json.dumps(rows, indent=2) + "\n")


def read_failures(root: Path) -> list[FailedCell]:
    """Read the failures that `write_failures` wrote; empty if it never did.

    Raises:
        RunError: The file is damaged.
    """
    path = root / FAILURES
    if not path.exists():
        return []
    try:
        return [FailedCell(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError) as error:
        raise RunError(f"{path} is damaged; remove it and run the benchmark again.") from error


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it printed nothing"
