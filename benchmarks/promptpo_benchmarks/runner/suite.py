"""Suites: TOML files that name tasks and the budget of a cell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from promptpo.envs.task import Task
from promptpo.errors import UsageError

SUITES = Path(__file__).parents[1] / "suites"

Score = Literal["return", "success"]


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """One task of a suite.

    Attributes:
        env: Gymnasium's ID of the environment, possibly with ``module:`` before it.
        kwargs: Arguments of ``gymnasium.make``.
        name: Its name in tables; by default the ID without its module and namespace.
        max_episode_steps: Horizon; None keeps the environment's.
        steps: Environment steps of a cell; None takes the suite's.
        score: The score: mean return, or share of successful episodes; None takes the suite's.
        anchors: Scores normalised to 0 and 1; None takes known ones, or those of the table.
    """

    env: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    max_episode_steps: int | None = None
    steps: int | None = None
    score: Score | None = None
    anchors: tuple[float, float] | None = None

    @property
    def label(self) -> str:
        """Name of the task in tables, directories, anchors and references."""
        return self.name or self.env.rpartition(":")[2].rpartition("/")[2]

    @property
    def slug(self) -> str:
        """The label as a directory name."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.label)

    def as_task(self) -> Task:
        """Return the task for promptpo."""
        return Task(self.env, dict(self.kwargs), self.max_episode_steps)


@dataclass(frozen=True, slots=True)
class Suite:
    """Tasks and the budget of a cell.

    Attributes:
        name: The file's name without its suffix.
        title: Title, in one line.
        tasks: Tasks, in the order of the tables.
        steps: Environment steps of a cell, except the final test.
        training_episodes: Alternative to `steps`: that many episodes of full length.
        rounds: Rounds of a cell that queries a model.
        candidates: Samples per prompt.
        test_episodes: Held-out episodes.
        score: Default score of tasks.
        only: Methods that play some tasks only, with the names of those.
    """

    name: str
    title: str
    tasks: tuple[SuiteTask, ...]
    steps: int | None = None
    training_episodes: int | None = None
    rounds: int = 5
    candidates: int = 4
    test_episodes: int = 100
    score: Score = "return"
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def has(self, task: SuiteTask, method: str) -> bool:
        """Whether a method plays a task."""
        return task.label in self.only.get(method, (task.label,))

    def score_of(self, task: SuiteTask) -> Score:
        """Return the score by which a task is judged."""
        return task.score or self.score

    def steps_of(self, task: SuiteTask) -> int:
        """Return the environment steps of a cell.

        Raises:
            UsageError: Neither the task nor the suite sets them, or the horizon they depend on is unknown.
        """
        if task.steps or self.steps:
            return task.steps or self.steps or 0
        horizon = horizon_of(task)
        if self.training_episodes is None or horizon is None:
            raise UsageError(
                f"suite {self.name} does not say how many steps {task.label} may take; give --max-steps."
            )
        return self.training_episodes * horizon


def horizon_of(task: SuiteTask) -> int | None:
    """Return the maximum episode length of a task; take a few steps in the environment if only its code knows."""
    from promptpo.envs.building import make_env
    from promptpo.spec.counters import StepCounters
    from promptpo.spec.facts import horizon_and_source

    env = make_env(task.as_task())
    try:
        if (known := horizon_and_source(env)[0]) is not None:
            return known
        counters = StepCounters(env)
        env.reset(seed=0)
        for number in range(1, 4):
            env.step(env.action_space.sample())
            counters.note(number)
        return counters.limit({})
    finally:
        env.close()


def suite_names() -> list[str]:
    """Return the names of the suites in this package."""
    return sorted(path.stem for path in SUITES.glob("*.toml"))


def load_suite(name: str) -> Suite:
    """Load a suite by name or from a file.

    Args:
        name: One of `suite_names`, or the path of a TOML file.

    Raises:
        UsageError: There is no such suite, or its file does not describe one.
    """
    from pydantic import TypeAdapter, ValidationError

    path = SUITES / f"{name}.toml" if name in suite_names() else Path(name)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        tasks = [{"env": task} if isinstance(task, str) else task for task in content.get("tasks", [])]
        checked = {"name": path.stem, **content, "tasks": tasks}
        _only_known(checked, Suite, path)
        for task in tasks:
            _only_known(task, SuiteTask, path)
        suite = TypeAdapter(Suite).validate_python(checked)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"there is no suite {name}; available: {', '.join(suite_names())}, or give the path of a TOML file."
        ) from error
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise UsageError(f"{path} does not describe a suite: {_first(error)}.") from error
    return _check(suite, path)


def _only_known(table: Mapping[str, Any], kind: type, path: Path) -> None:
    known = kind.__dataclass_fields__  # type: ignore[attr-defined]
    for key in table:
        if key not in known:
            raise UsageError(f"{path}: a {kind.__name__} has no {key!r}; it has {', '.join(known)}.")


def _check(suite: Suite, path: Path) -> Suite:
    labels = [task.label for task in suite.tasks]
    if not labels:
        raise UsageError(f"{path} has no tasks.")
    for task in suite.tasks:
        if task.anchors and not task.anchors[0] < task.anchors[1]:
            raise UsageError(f"{path}: the anchors of {task.label} are [LOW, HIGH], the low score first.")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice:
        raise UsageError(f"{path} has two tasks called {twice}; give one of them another name.")
    unknown = next((name for names in suite.only.values() for name in names if name not in labels), None)
    if unknown:
        raise UsageError(f"{path} names {unknown} under only, but has no such task.")
    return suite


def _first(error: Exception) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        found = error.errors()[0]
        return f"{'.'.join(str(part) for part in found['loc'])}: {found['msg']}"
    return str(error)
