"""The number that is reported: the best of a run on test seeds that nothing else ever saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.records import Attempt, Seeds
from promptpo.search import references
from promptpo.search.measuring import subject_of

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.control import Control
    from promptpo.run.spender import Spender
    from promptpo.spec import TaskSpec

TEST_FIRST = 10
"""A policy that fails in each of so many test episodes is not tested in the others."""


async def tested(
    best: Attempt, spender: Spender, config: Config, horizon: int, control: Control
) -> tuple[Evaluation | None, Evaluation | None]:
    """The best's score on test seeds, and on variants held out from training.

    Where somebody ends the run meanwhile, the first episodes stand for all of them if they were over, and
    None for what was not played; a resumed run plays it.

    Raises:
        EnvironmentFaultError: The environment failed.
    """
    n, seeds = config.test_episodes, Seeds(config.seed)
    tests: list[tuple[Literal["test", "held_out"], tuple[int, ...]]] = [("test", seeds.test(n))]
    tests += [("held_out", seeds.held_out(n))] if config.task.held_out else []
    found: list[Evaluation | None] = []
    for kind, each in tests:
        first: list[Evaluation] = []

        def go_on(early: Evaluation, first: list[Evaluation] = first) -> bool:
            first.append(early)
            return bool(early.episodes)

        played = await control.finished(
            spender.roll_out(
                kind,
                f"{best.candidate.digest}.{n}",
                subject_of(best.candidate),
                each,
                horizon=horizon,
                first=TEST_FIRST,
                go_on=go_on,
            )
        )
        if played is None and first:
            spender.count_unfinished("test", first[0].steps)
        found.append(played.evaluation if played is not None else next(iter(first), None))
    test, held_out = (*found, None)[:2]
    return test, held_out


async def marks(
    spec: TaskSpec, test: Evaluation, spender: Spender, config: Config, horizon: int, control: Control
) -> Mapping[str, Evaluation]:
    """What references earn on the test seeds; those that are missing were not over when somebody ended the run."""
    seeds = Seeds(config.seed).test(config.test_episodes)
    measured = references.measured_on_test(
        spender, spec.action_space, seeds, horizon, seconds=test.seconds, steps=test.steps
    )
    found = dict(await control.finished(measured) or {})
    if config.teacher is None:
        return found
    from promptpo.search import teacher

    taught = await control.finished(teacher.tested(spender, spec, config, horizon))
    return found if taught is None else {**found, teacher.TEACHER: taught}


async def fidelity(
    best: Attempt, spender: Spender, spec: TaskSpec, config: Config
) -> Mapping[str, Any] | None:
    """How much the best acts like the teacher; None without one."""
    if config.teacher is None:
        return None
    from promptpo.search import teacher

    return await teacher.fidelity(spender, spec, config, best.candidate)
