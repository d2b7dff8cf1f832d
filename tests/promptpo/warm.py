"""Worker processes and specs reused between tests, since creating them takes most of a short run's time."""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver
from typing import Any, Literal

from promptpo.envs.task import Task
from promptpo.rollouts import Executor, Settings, make_executor
from promptpo.rollouts.local import LocalExecutor
from promptpo.spec import TaskSpec
from promptpo.spec.describe import describe
from promptpo_sandbox import Limits

SMALL = (
    "CartPole-v1",
    "Pendulum-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Acrobot-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "MiniGrid-Empty-5x5-v0",
)
SPAWNED = multiprocessing.get_context
multiprocessing.set_forkserver_preload(
    [
        *("tests.promptpo.killable", "tests.promptpo.compiled", "promptpo.rollouts.local"),
        *("promptpo.api", "promptpo.spec.describe", "gymnasium.envs.classic_control"),
        *("anyio", "pydantic.main", "jinja2", "markdown_it", "pygments.lexers"),
        *(
            "promptpo.cli.app",
            "promptpo.cli.result_commands",
            "promptpo.session.formalising",
            "promptpo.recipes.default",
        ),
        *(
            "promptpo.features.tuning.feature",
            "promptpo.features.references.feature",
            "promptpo.prompts.prompting",
        ),
        *(
            "promptpo.llm.function",
            "pydantic.type_adapter",
            "typer.main",
            "tomli_w",
            "cloudpickle",
            "shellingham",
        ),
        *("email.parser", "pygments.formatters.html", "pygments.lexers.python", "pygments.styles.default"),
        "tests.promptpo.copied",
    ]
)


def one_core() -> int:
    """Replacement for `promptpo.rollouts.local.usable_cores`; other tests use the other cores."""
    return 1


MAX_IDLE = 3
"""Maximum number of idle executors; each has processes with environments."""


class Warm(LocalExecutor):
    """An executor whose workers stay after a run.

    Args:
        shelf: Keeps it between runs.
        settings: The task and the limits.
        jobs: Number of processes.
    """

    def __init__(self, shelf: Shelf, settings: Settings, jobs: int) -> None:
        super().__init__(settings, jobs)
        self._shelf, self._asked = shelf, (settings, jobs)

    def close(self) -> None:
        """Return to the shelf; the last run has cancelled its work."""
        self._shelf.put(self._asked, self)

    def end(self) -> None:
        """Stop the workers."""
        super().close()


class Shelf:
    """Idle executors by the settings that they were built with.

    Only plain environments in `SMALL` under default limits are kept; every other run has workers of its own.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[tuple[Settings, int], Warm]] = []
        self._specs: dict[str, TaskSpec] = {}

    def local(self, settings: Settings, jobs: int = 0) -> LocalExecutor:
        """Return an idle or a new executor on this machine."""
        task = Task(settings.task.env_id, settings.task.env_kwargs, settings.task.max_episode_steps)
        plain = Settings(task, Limits(), clip_actions=settings.clip_actions)
        if settings != plain or task.env_id not in SMALL:
            return LocalExecutor(settings, jobs)
        asked = (settings, jobs or one_core())
        for i, (made_for, executor) in enumerate(self._kept):
            if made_for == asked:
                del self._kept[i]
                return executor
        return Warm(self, *asked)

    def make_executor(self, kind: Literal["local", "ray"], settings: Settings, jobs: int = 0) -> Executor:
        """Replacement for `promptpo.rollouts.make_executor`."""
        return self.local(settings, jobs) if kind == "local" else make_executor(kind, settings, jobs)

    def put(self, asked: tuple[Settings, int], executor: Warm) -> None:
        """Keep an executor, once."""
        if not any(kept is executor for _, kept in self._kept):
            self._kept.append((asked, executor))
        while len(self._kept) > MAX_IDLE:
            self._kept.pop(0)[1].end()

    def describe(self, task: Task, *, spec_file: str | None = None, **how: Any) -> TaskSpec:
        """Replacement for `promptpo.spec.describe.describe` that describes each of `SMALL` once."""
        if task.env_id not in SMALL or task.wrappers or spec_file is not None:
            return describe(task, spec_file=spec_file, **how)
        asked = repr((task, how))
        if asked not in self._specs:
            self._specs[asked] = describe(task, **how)
        return self._specs[asked]

    def clear(self) -> None:
        """Stop all workers."""
        for _, executor in self._kept:
            executor.end()
        self._kept.clear()


def forked(method: str | None = None) -> Any:
    """Replacement for `multiprocessing.get_context` whose workers are forks of a process that has done all imports."""
    return SPAWNED("forkserver" if method == "spawn" else method)


def serving() -> str:
    """Return the address of the fork server."""
    forkserver.ensure_running()
    return str(vars(forkserver._forkserver)["_forkserver_address"])


def use_fork_server(address: str) -> None:
    """Use the fork server that this process came from, instead of starting another.

    Args:
        address: From `serving`.

    """
    vars(forkserver._forkserver).update(_forkserver_address=address, ensure_running=lambda: None)
    multiprocessing.get_context = forked
