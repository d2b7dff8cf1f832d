"""A cap on language-model answers that all cells of a benchmark share."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from promptpo.errors import RunError
from promptpo.run.state import read_state
from promptpo_benchmarks.runner.cells import Cell
from promptpo_benchmarks.runner.estimate import calls_of
from promptpo_benchmarks.runner.methods import CellBudget
from promptpo_benchmarks.runner.suite import Suite

REPAIRS = 1.5
"""Calls granted to a cell per call that it needs without repairs."""


class AnswerCap:
    """Grants calls to cells, so that all of them together stay below a cap.

    A cell keeps its grant until it ends; what it did not use becomes available to others. A cell that could not make
    all the calls it needs is not started.

    Args:
        cells: All cells of the benchmark, including those that made calls in earlier passes.
        suite: Defines their budgets.
        budget: Overrides them; `CellBudget.calls` is the cap, None grants everything.
    """

    def __init__(self, cells: Sequence[Cell], suite: Suite, budget: CellBudget) -> None:
        self._suite, self._budget = suite, budget
        self._lock = threading.Lock()
        self._asked = {cell.name: count_answers(cell) for cell in cells if cell.model} if budget.calls else {}
        self._granted: dict[str, int] = {}

    def grant(self, cell: Cell) -> int | None:
        """Return the calls that a cell may make in total, earlier passes included; 0 if it must not begin, None without a cap."""
        needed = calls_of(cell, self._suite, self._budget)
        if self._budget.calls is None or not needed:
            return None
        with self._lock:
            others = sum(n for name, n in self._asked.items() if name != cell.name)
            held = sum(n for name, n in self._granted.items() if name != cell.name)
            left = self._budget.calls - others - held
            if left < needed:
                return 0
            granted = min(left, round(needed * REPAIRS))
            # The grant includes the cell's earlier calls, which must not be counted twice while it runs.
            self._asked[cell.name], self._granted[cell.name] = 0, granted
        return granted

    def settle(self, cell: Cell) -> None:
        """Release what a cell that has ended did not use."""
        # Under the lock: a cell beginning just now would count neither the grant nor the calls made.
        with self._lock:
            if self._granted.pop(cell.name, None) is not None:
                self._asked[cell.name] = count_answers(cell)


def count_answers(cell: Cell) -> int:
    """Return the number of answers that a cell has on disk."""
    try:
        return len(read_state(cell.directory).payloads["completion"])
    except RunError:
        return 0
