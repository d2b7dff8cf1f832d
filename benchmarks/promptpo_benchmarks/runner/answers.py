"""A cap on the answers of language models that all cells of a benchmark share."""

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
"""How many calls a cell is granted for each that it needs where nothing has to be repaired."""


class AnswerCap:
    """Grants calls to cells, so that what all have asked stays below a cap.

    A cell keeps what it was granted until it ends; what it did not use is granted to others. One that could not
    ask all that it needs is not begun.

    Args:
        cells: All cells of the benchmark, those included that have asked in earlier passes.
        suite: Where their budgets come from.
        budget: What replaces them; `CellBudget.calls` is the cap, None grants everything.
    """

    def __init__(self, cells: Sequence[Cell], suite: Suite, budget: CellBudget) -> None:
        self._suite, self._budget = suite, budget
        self._lock = threading.Lock()
        self._asked = {cell.name: count_answers(cell) for cell in cells if cell.model} if budget.calls else {}
        self._granted: dict[str, int] = {}

    def grant(self, cell: Cell) -> int | None:
        """Calls that a cell may make in all, earlier passes included; 0 where it must not begin, None without a cap."""
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
            # What the cell asked before is in the grant, so it must not be counted twice while it runs.
            self._asked[cell.name], self._granted[cell.name] = 0, granted
        return granted

    def settle(self, cell: Cell) -> None:
        """A cell has ended: what it did not use is free again."""
        # Under the lock: a cell that begins just now would count neither what is held nor what was asked.
        with self._lock:
            if self._granted.pop(cell.name, None) is not None:
                self._asked[cell.name] = count_answers(cell)


def count_answers(cell: Cell) -> int:
    """Answers that a cell has on disk."""
    try:
        return len(read_state(cell.directory).told["completion"])
    except RunError:
        return 0
