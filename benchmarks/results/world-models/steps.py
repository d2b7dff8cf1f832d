"""How many environment steps a policy of a given quality costs, with a world model and without one.

`python benchmarks/results/world-models/steps.py [--seeds 2] [--steps 100000] [--out DIR] [TASK | ENV=TARGET ...]` runs program
search, that is, no language model, under the default recipe and under `--recipe model`, on the tasks of `tasks.toml`. A
row says after how many steps, all purposes but the final test counted, the first candidate came that reached the target,
both over its training episodes and over held-out ones, and what the run's best earned on these.

Every run is a process of its own with a limit of computing time. Rows are kept in DIR as they come, and the same command
goes on where it stopped. Seeds after the first are run only where the first took less than the limit under both recipes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from promptpo.api import optimize
from promptpo.output.evaluating import evaluate
from promptpo.output.run_result import load_run
from promptpo.rollouts.local import die_with_parent
from promptpo.core.config import Budget
from promptpo.core.journal import JOURNAL, read_events
from promptpo.core.budget import Ledger
from promptpo.core.candidate import Seeds
from cpu import cpu_seconds
from promptpo_benchmarks.measuring.tables import markdown
from rows import read_rows, write_rows

TASKS = Path(__file__).with_name("tasks.toml")

RecipeName = Literal["default", "model"]
RECIPES: tuple[RecipeName, ...] = ("default", "model")

SLOWEST = 40
"""A run that takes so many times its computing time by the clock is ended and has failed."""

HELD_OUT = 30
"""Episodes that confirm that the target was reached, and test a run's best."""

CONFIRMED = 5
"""Of so many candidates that reach the target over their training episodes, at most, it is seen whether they do."""

CSV, TABLE = "steps.csv", "steps.md"
HEADER = ("task", "target", "recipe", "reached", "steps until then", "held-out score", "ended", "seconds")


@dataclass(frozen=True, slots=True)
class SavingTask:
    """A task and what counts as solving it.

    Attributes:
        env: Its id.
        target: The score.
        score: What is held against it: the mean return, or the share of successful episodes.
        why: Where the target is from.
    """

    env: str
    target: float
    score: Literal["return", "success"] = "return"
    why: str = ""

    @property
    def name(self) -> str:
        """The id without its namespace."""
        return self.env.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class WorldRow:
    """One run.

    Attributes:
        task: The task's name.
        target: What it had to reach.
        recipe: Of the run.
        seed: Of the run.
        steps: Until the target was reached; None where it was not.
        searched: Steps of the whole search.
        test: Score of the run's best on held-out episodes; NaN where there was none.
        seconds: Computing time of the run, in all its processes.
        ended: Why the search ended, in a word.
    """

    task: str
    target: float
    recipe: str
    seed: int
    steps: int | None
    searched: int
    test: float
    seconds: float
    ended: str

    @property
    def key(self) -> tuple[str, float, str, int]:
        """Identity of the run that a row belongs to."""
        return self.task, self.target, self.recipe, self.seed


def known_tasks() -> dict[str, SavingTask]:
    """Those of `tasks.toml` by name."""
    given = tomllib.loads(TASKS.read_text(encoding="utf-8"))["tasks"]
    tasks = (SavingTask(**one) for one in given)
    return {task.name: task for task in tasks}


def measure(task: SavingTask, recipe: RecipeName, seed: int, most: int, seconds: float) -> WorldRow:
    """One run of program search.

    Args:
        task: What is to be solved.
        recipe: The procedure.
        seed: Of the run.
        most: Steps of the search.
        seconds: Computing time of the search, its sandboxes included; what it has by then is tested.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        with _interrupted_after(seconds) as watch, contextlib.suppress(KeyboardInterrupt):
            optimize(
                task.env, model="search", recipe=recipe, seed=seed, max_steps=most, out=out, jobs=1,
                stop_at=task.target if task.score == "return" else None, test_episodes=HELD_OUT, progress=False,
            )  # fmt: skip
        result = load_run(out)
        ledger, reaching, searched = Ledger(Budget()), list[tuple[str, int]](), 0
        for event in read_events(out / JOURNAL):
            ledger.add(event)
            searched = ledger.searched_steps
            if event.kind == "attempt":
                episodes = event.data["evaluation"]["episodes"]
                if _score(task, ((one["return_"], one["success"]) for one in episodes)) >= task.target:
                    reaching.append((event.data["candidate"]["source"], searched))
        reached = next(
            (at for source, at in _different(reaching)[:CONFIRMED] if _confirmed(task, source)), None
        )
        tested = result.data["test"] or {}
        test = tested.get("mean_return" if task.score == "return" else "success_rate")
        test = float("nan") if test is None else float(test)
    return WorldRow(
        task.name,
        task.target,
        recipe,
        seed,
        reached,
        searched,
        round(test, 3),
        round(watch.taken, 1),
        "time: the limit of computing time" if watch.spent else result.stop_reason,
    )


class _Watch:
    """Counts computing time while workers are alive, since what they took is lost with them.

    Args:
        seconds: After so many Ctrl-C is pressed, so to speak.
    """

    def __init__(self, seconds: float) -> None:
        self.taken, self._limit, self._begun = 0.0, seconds, cpu_seconds()
        self.spent, self.done = False, threading.Event()

    def look(self) -> None:
        """Until done."""
        while not self.done.wait(0.5):
            self.taken = max(self.taken, cpu_seconds() - self._begun)
            if self.taken > self._limit and not self.spent:
                self.spent = True
                os.kill(os.getpid(), signal.SIGINT)


@contextlib.contextmanager
def _interrupted_after(seconds: float) -> Iterator[_Watch]:
    """End a search once so much computing time is spent, which does not depend on what else runs here."""
    watch = _Watch(seconds)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
    watcher = threading.Thread(target=watch.look, daemon=True)
    watcher.start()
    try:
        yield watch
    finally:
        watch.done.set()
        watcher.join()
        signal.signal(signal.SIGINT, before)


def _different(found: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    first: dict[str, int] = {}
    for source, at in found:
        first.setdefault(source, at)
    return list(first.items())


def _score(task: SavingTask, episodes: Iterable[tuple[float, bool | None]]) -> float:
    """Minus infinity without episodes."""
    scores = [float(bool(success)) if task.score == "success" else gained for gained, success in episodes]
    return statistics.fmean(scores) if scores else float("-inf")


def _confirmed(task: SavingTask, source: str) -> bool:
    """Whether a policy's held-out score is not below the target by more than the error of the mean."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.py"
        path.write_text(source, encoding="utf-8")
        played = evaluate(path, task.env, episodes=HELD_OUT, seed=Seeds().test(1)[0], trust=True).evaluation
    scores = [(one.return_, one.success) for one in played.episodes]
    if played.outcome != "ok":
        return False
    spread = [_score(task, [one]) for one in scores]
    error = float(statistics.stdev(spread)) / len(spread) ** 0.5
    return bool(_score(task, scores) + error >= task.target)


def table(rows: Sequence[WorldRow]) -> Iterator[tuple[str, ...]]:
    """A line for each task and recipe."""
    for task, target, recipe in dict.fromkeys((row.task, row.target, row.recipe) for row in rows):
        mine = [row for row in rows if (row.task, row.target, row.recipe) == (task, target, recipe)]
        yield (
            task,
            f"{target:g}",
            recipe,
            f"{sum(row.steps is not None for row in mine)} of {len(mine)}",
            ", ".join("-" if row.steps is None else f"{row.steps:,}" for row in mine),
            ", ".join(f"{row.test:.4g}" for row in mine),
            ", ".join(row.ended.partition(":")[0] for row in mine),
            ", ".join(f"{row.seconds:.0f}" for row in mine),
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "tasks", nargs="*", metavar="TASK", help="names in tasks.toml, or ENV=TARGET; default: all"
    )
    parser.add_argument("--recipes", default=",".join(RECIPES), help="default: %(default)s")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100_000, help="budget of each run")
    parser.add_argument("--seconds", type=float, default=120.0, help="computing time of each search, at most")
    parser.add_argument("--out", type=Path, help="keeps rows there, and goes on where it stopped")
    parser.add_argument("--cell", help=argparse.SUPPRESS)  # one run, in the process that is started for it


def chosen(names: Sequence[str]) -> list[SavingTask]:
    """Tasks by name, or as ENV=TARGET.

    Raises:
        ValueError: There is no such task.
    """
    known = known_tasks()
    tasks = []
    for name in names:
        env, given, target = name.rpartition("=")
        if given:
            tasks.append(replace(known.get(env, SavingTask(env, 0.0)), target=float(target)))
        elif name in known:
            tasks.append(known[name])
        else:
            raise ValueError(f"there is no task {name}; there are {', '.join(known)}, or give ENV=TARGET")
    return tasks or list(known.values())


def run(given: argparse.Namespace) -> None:
    """Run and print."""
    if given.cell:
        cell = json.loads(given.cell)
        row = measure(SavingTask(**cell["task"]), cell["recipe"], cell["seed"], given.steps, given.seconds)
        print(json.dumps(asdict(row)))
        return
    try:
        tasks = chosen(given.tasks)
    except ValueError as error:
        sys.exit(f"{error}.")
    recipes = [cast("RecipeName", name) for name in given.recipes.split(",")]
    path = given.out / CSV if given.out is not None else None
    rows = read_rows(path, WorldRow)
    for seed in range(1, given.seeds + 1):
        for task in tasks:
            for recipe in recipes:
                if any(row.key == (task.name, task.target, recipe, seed) for row in rows):
                    continue
                if seed > 1 and any(row.task == task.name and row.seconds >= given.seconds for row in rows):
                    continue
                row = _apart(task, recipe, seed, given.steps, given.seconds)
                rows.append(row)
                print(row, file=sys.stderr, flush=True)
                if path is not None:
                    write_rows(path, rows)
    order = {task.name: n for n, task in enumerate(tasks)}
    rows.sort(key=lambda row: (order.get(row.task, len(order)), row.recipe, row.seed))
    text = markdown(HEADER, table(rows))
    if path is not None:
        path.with_name(TABLE).write_text(text, encoding="utf-8")
    print(text)


def _apart(task: SavingTask, recipe: RecipeName, seed: int, most: int, seconds: float) -> WorldRow:
    """One run in a process of its own, ended where it does not end by itself."""
    cell = json.dumps({"task": asdict(task), "recipe": recipe, "seed": seed})
    command = [sys.executable, __file__, "--cell", cell]
    command += ["--steps", str(most), "--seconds", str(seconds)]

    def failed(why: str) -> WorldRow:
        return WorldRow(task.name, task.target, recipe, seed, None, 0, float("nan"), seconds, why)

    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SLOWEST * seconds, check=False,
            preexec_fn=die_with_parent,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return failed("killed: it did not end by itself")
    if done.returncode:
        return failed(f"failed: {(done.stderr.strip().splitlines() or ['without a word'])[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return WorldRow(**found)


if __name__ == "__main__":
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(made)
    run(made.parse_args())
