"""One training run per domain, variant and seed, kept on disk as soon as it has ended."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.assembly import assemble
from promptpo_baselines.icpi.engines.choose import ChosenEngine, choose_engine, is_paid
from promptpo_baselines.icpi.play import last_quarter, train
from promptpo_baselines.icpi.setting import setting_for
from variants import VARIANTS
from promptpo.core.config import Budget
from promptpo.core.journal import Journal
from promptpo.core.budget import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.icpi.values import EpisodeLog

ROWS = "runs.jsonl"
LATEST = 4
"""Episodes that the regret at a point in time is the mean of."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run.

    Attributes:
        env_id: The domain.
        variant: Key of `VARIANTS`.
        engine: Who was asked; None where nobody was.
        seed: Of everything random.
        prompt_tokens: Budget of a prompt.
        steps: Training steps.
        ends: Step at which each finished episode ended.
        regrets: Regret of each of these episodes.
        last_quarter: Mean regret of the episodes that ended in the last quarter of the steps.
        calls: Completions asked for in these episodes.
        invalid: Completions that were no valid answer.
        rounds: Batches of completions, one after the other; single calls where nothing is batched.
        planned: Steps at which the agent decided by imagined rollouts or by its policy, not at random.
        cpu_seconds: CPU time of this process.
        date: When it ended, UTC.
        versions: Of what decides the result.
    """

    env_id: str
    variant: str
    engine: str | None
    seed: int
    prompt_tokens: int
    steps: int
    ends: Sequence[int]
    regrets: Sequence[float]
    last_quarter: float | None
    calls: int
    invalid: int
    rounds: int
    planned: int
    cpu_seconds: float
    date: str
    versions: dict[str, str]

    def regret_at(self, step: float) -> float | None:
        """Mean regret of the latest episodes that had ended by a step; None before the first end."""
        done = [regret for end, regret in zip(self.ends, self.regrets, strict=True) if end <= step]
        return sum(done[-LATEST:]) / len(done[-LATEST:]) if done else None


@dataclass(frozen=True, slots=True)
class IcpiCell:
    """A run to be made; the attributes are those of `Run`."""

    env_id: str
    variant: str
    engine: str | None
    seed: int
    prompt_tokens: int
    steps: int

    def is_done_by(self, run: Run) -> bool:
        """Whether a run is this one."""
        return all(getattr(run, name) == value for name, value in asdict(self).items())


def cells(
    env_ids: Iterable[str],
    variants: Iterable[str],
    seeds: Iterable[int],
    *,
    engine: str,
    prompt_tokens: int,
) -> list[IcpiCell]:
    """All runs of a table, over the steps of the paper's figure."""
    seeds = list(seeds)
    variants = list(variants)
    return [
        IcpiCell(env_id, name, VARIANTS[name].engine_of(engine), seed, prompt_tokens, _figure_steps(env_id))
        for env_id in env_ids
        for name in variants
        for seed in seeds
    ]


def _figure_steps(env_id: str) -> int:
    domain = setting_for(env_id).domain
    assert domain is not None  # noqa: S101 - the benchmark takes ICPI's own domains only
    return domain.figure_steps


def engine_suffix(engine: str) -> str:
    """Suffix of an engine's files; empty for the oracle, whose tables came first."""
    if engine == "oracle":
        return ""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", engine).strip("-")[:40]
    if name == engine:
        return f"-{name}"
    # Two long names, or two that differ in other characters only, must not meet.
    return f"-{name}-{hashlib.blake2b(engine.encode(), digest_size=4).hexdigest()}"


class RunStore:
    """The runs in a folder; one that is there is not made again.

    Args:
        folder: Made if need be; paid completions are kept below it.
        base_url: Address of a completion server.
        budget: Limits of each single run with a paid engine.
    """

    def __init__(self, folder: Path, *, base_url: str | None = None, budget: Budget | None = None) -> None:
        self.folder, self._base_url = folder, base_url
        self._budget = budget or Budget(steps=None)
        path = folder / ROWS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.runs = [Run(**json.loads(line)) for line in lines]

    def make(self, wanted: Sequence[IcpiCell]) -> Iterator[tuple[Run, bool]]:
        """Each wanted run, and whether it was made just now."""
        for cell in wanted:
            found = next((run for run in self.runs if cell.is_done_by(run)), None)
            if found is None:
                yield self._make(cell), True
            else:
                yield found, False

    def _make(self, cell: IcpiCell) -> Run:
        setting = setting_for(cell.env_id)
        with ExitStack() as stack:
            chosen = self._engine(cell, setting, stack)
            run = make_run(cell, setting, chosen)
        self.runs.append(run)
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ROWS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(run)) + "\n")
        return run

    def _engine(self, cell: IcpiCell, setting: Setting, stack: ExitStack) -> ChosenEngine | None:
        if cell.engine is None:
            return None
        journal = None
        if is_paid(cell.engine):
            name = cell.env_id.replace("/", "-")
            folder = f"{name}-{cell.variant}-{cell.seed}{engine_suffix(cell.engine)}"
            journal = stack.enter_context(Journal(self.folder / "completions" / folder))
        chosen = choose_engine(
            cell.engine,
            setting,
            seed=cell.seed,
            base_url=self._base_url if is_paid(cell.engine) else None,
            ledger=Ledger(self._budget, journal.events if journal else ()),
            journal=journal,
        )
        stack.callback(chosen.close)
        return chosen


def make_run(cell: IcpiCell, setting: Setting, chosen: ChosenEngine | None) -> Run:
    """Train once, in this process.

    Args:
        cell: What to do.
        setting: The domain.
        chosen: Who is asked; None where nobody is.
    """
    variant = VARIANTS[cell.variant]
    assembled = assemble(
        setting,
        variant.method,
        replace(variant.profile, prompt_tokens=cell.prompt_tokens),
        engine=chosen.engine if chosen else None,
        measure=chosen.measure if chosen else None,
        seed=cell.seed,
        bootstrap_terminal=variant.bootstrap_terminal,
    )
    tally, asked = assembled.tally, (0, 0, 0)

    def count(_: EpisodeLog) -> None:
        nonlocal asked  # what the last, unfinished episode asks belongs to no decision that is counted
        asked = sum(tally.calls.values()), sum(tally.invalid.values()), tally.rounds

    before = time.process_time()
    logs = train(setting, assembled.agent, cell.steps, cell.seed, count)
    seconds = time.process_time() - before
    return Run(
        **asdict(cell),
        ends=[log.end_step for log in logs],
        regrets=[round(log.regret or 0.0, 9) for log in logs],
        last_quarter=last_quarter(logs, cell.steps),
        calls=asked[0],
        invalid=asked[1],
        rounds=asked[2],
        planned=sum(not decision.warm_up for log in logs for decision in log.decisions),
        cpu_seconds=round(seconds, 3),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in ("promptpo", "numpy", "gymnasium")},
    )
