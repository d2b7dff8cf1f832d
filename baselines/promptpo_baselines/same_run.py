"""Runs that ask a model and go on by being run again: only as they were begun, and only where they repeat."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import RunError, UsageError
from promptpo.files import read_json
from promptpo.run.journal import Journal
from promptpo.run.ledger import Ledger
from promptpo.run.origin import SETTINGS, save_own_settings

if TYPE_CHECKING:
    from promptpo.run.config import Budget


def begin_or_check(
    directory: Path, wanted: Mapping[str, Any], kind: str, *, is_new: bool, but: frozenset[str] = frozenset()
) -> None:
    """Write the configuration of a new run and sign it; refuse to go on with another run's directory.

    Args:
        directory: Of the run.
        wanted: The configuration as JSON.
        kind: What the directory should hold, as in "holds no ICPI run".
        is_new: Whether nothing has happened in it.
        but: Keys that may differ.

    Raises:
        RunError: What is there cannot be read.
        UsageError: The directory holds another run.
    """
    path = directory / SETTINGS
    if is_new:
        save_own_settings(json.dumps(wanted, indent=2) + "\n", directory)
        return
    try:
        found: Mapping[str, Any] = read_json(path)
    except (OSError, ValueError) as error:
        raise RunError(
            f"{directory} holds no {kind}: {path.name} cannot be read; choose another --out."
        ) from error
    other = [name for name in wanted if name not in but and found.get(name) != wanted[name]]
    if other:
        raise UsageError(
            f"{directory} holds a run with another {', '.join(other)}; repeat its flags to go on with it, or "
            f"choose another --out."
        )


@contextlib.contextmanager
def asking_run(
    directory: Path,
    wanted: Mapping[str, Any],
    kind: str,
    budget: Budget,
    *,
    but: frozenset[str] = frozenset(),
) -> Iterator[tuple[Journal, Ledger]]:
    """The journal and the ledger of a run that asks a model, new or gone on with; see `begin_or_check`."""
    with Journal(directory) as journal:
        begin_or_check(directory, wanted, kind, is_new=not journal.events, but=but)
        ledger = Ledger(budget, journal.events)
        number = sum(1 for _ in journal.of_kind("session"))
        ledger.add(journal.add("session", str(number), {"started": time.time()}))
        yield journal, ledger


def record(journal: Journal, ledger: Ledger, kind: Any, key: str, value: Any) -> None:
    """Journal an episode, and count its time; one that is in the journal already must be the same.

    Raises:
        RunError: It is not.
    """
    data = json.loads(json.dumps(asdict(value)))
    found = journal.find(kind, key)
    if found is None:
        ledger.add(journal.add(kind, key, data))
    elif found != data:
        raise RunError(
            f"{journal.directory} does not repeat from episode {key} on, because a package or the code has changed "
            "since it began; start a new run in another --out."
        )


def asked(ledger: Ledger) -> dict[str, Any]:
    """What was asked of a language model, for results."""
    return {
        "calls": ledger.calls,
        "input_tokens": ledger.usage.input_tokens,
        "cached_input_tokens": ledger.usage.cached_input_tokens,
        "output_tokens": ledger.usage.output_tokens,
        "cost_usd": round(ledger.cost_usd, 6),
        "calls_of_unknown_price": ledger.unpriced_calls,
    }
