"""Runs that query a model and continue when repeated: only with the same configuration, and only if they replay exactly."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.budget import Ledger
from promptpo.core.control import obey_interrupts
from promptpo.core.journal import Journal
from promptpo.errors import BudgetSpentError, RunError, UsageError
from promptpo.files import read_json
from promptpo.output.report import write_result
from promptpo.run.origin import SETTINGS, save_own
from promptpo_baselines.result_parts import head, steps_of

if TYPE_CHECKING:
    from promptpo.core.config import Budget
    from promptpo.envs.task import Task

INTERRUPTED = "interrupted; repeat the command to continue"


@dataclass(frozen=True)
class AskingRun:
    """A run that queries a model, new or continued.

    Attributes:
        task: The task to play.
        wanted: Its configuration as JSON, with "method", "engine" and "seed".
        journal: Everything is written to it before it is read.
        ledger: Decides whether it may query; listens to the journal.
        steps: Environment steps by purpose.
    """

    task: Task
    wanted: Mapping[str, Any]
    journal: Journal
    ledger: Ledger
    steps: Counter[str] = field(default_factory=Counter)

    def record(self, kind: Any, key: str, value: Any) -> None:
        """Journal an episode; one that is already in the journal must be the same.

        Raises:
            RunError: It differs.
        """
        data = json.loads(json.dumps(asdict(value)))
        if self.journal.once(kind, key, lambda: data) != data:
            raise RunError(
                f"{self.journal.directory} no longer repeats from episode {key} on, because a package or the code "
                "has changed; start a new run in another --out."
            )

    def finish(
        self, work: Callable[[], None], finished: str, content: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Do the work and write the result, even if a limit or Ctrl-C ends it.

        Args:
            work: The work.
            finished: Stop reason if nothing interrupts the work.
            content: Returns the part of the result that is specific to this kind of run.
        """
        stop, interrupt = finished, None
        try:
            work()
        except BudgetSpentError as spent:
            stop = str(spent)
        except KeyboardInterrupt as error:
            stop, interrupt = INTERRUPTED, error
        result = write_result(self.journal.directory, self._result(stop) | content())
        if interrupt is not None:
            raise interrupt
        return result

    def _result(self, stop: str) -> dict[str, Any]:
        wanted, ledger = self.wanted, self.ledger
        return {
            **head(wanted["method"], self.task, wanted["seed"]),
            "model": wanted["engine"],
            "config": dict(wanted),
            "steps": steps_of(**self.steps),
            "llm": {
                "calls": ledger.calls,
                "input_tokens": ledger.usage.input_tokens,
                "cached_input_tokens": ledger.usage.cached_input_tokens,
                "output_tokens": ledger.usage.output_tokens,
                "cost_usd": round(ledger.cost_usd, 6),
                "calls_of_unknown_price": ledger.unpriced_calls,
            },
            "wall_seconds": round(ledger.seconds, 3),
            "stop_reason": stop,
        }


@contextlib.contextmanager
def asking_run(
    directory: Path,
    task: Task,
    wanted: Mapping[str, Any],
    kind: str,
    budget: Budget,
) -> Iterator[AskingRun]:
    """Open a run that queries a model; the configuration of a new one is written and signed.

    Args:
        directory: The run directory.
        task: The task to play.
        wanted: The configuration as JSON.
        kind: What the directory should hold, as in "holds no ICPI run".
        budget: Limits of the queries.

    Raises:
        RunError: Existing files cannot be read.
        UsageError: The directory holds another run.
    """
    obey_interrupts()
    with Journal(directory) as journal:
        if journal.events:
            _check(directory, wanted, kind)
        else:
            save_own(json.dumps(wanted, indent=2) + "\n", directory)
        ledger = Ledger(budget, journal.events)
        journal.listen(ledger.add)
        journal.add("session", str(sum(1 for _ in journal.of_kind("session"))), {"started": time.time()})
        yield AskingRun(task, wanted, journal, ledger)


def _check(directory: Path, wanted: Mapping[str, Any], kind: str) -> None:
    """Check that a directory holds this run."""
    try:
        found: Mapping[str, Any] = read_json(directory / SETTINGS)
    except (OSError, ValueError) as error:
        raise RunError(
            f"{directory} holds no {kind}: {SETTINGS} cannot be read; choose another --out."
        ) from error
    other = [name for name in wanted if found.get(name) != wanted[name]]
    if other:
        raise UsageError(
            f"{directory} holds a run with another {', '.join(other)}; repeat its flags to continue it, or "
            f"choose another --out."
        )
