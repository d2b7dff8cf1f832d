"""The number that is reported: the best of a run on test seeds that nothing else ever saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.records import Attempt, Seeds
from promptpo.search import references, teacher

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.sampler import Sampler
    from promptpo.spec import TaskSpec

TEST_FIRST = 10
"""A policy that fails in each of so many test episodes is not tested in the others."""


async def tested(
    spec: TaskSpec, best: Attempt, sampler: Sampler, spender: Spender, config: Config, horizon: int
) -> tuple[Evaluation, Evaluation | None, Mapping[str, Evaluation]]:
    """The best's score on test seeds, on variants held out from training, and what references earn there.

    Raises:
        EnvironmentFaultError: The environment failed.
    """
    n, seeds = config.test_episodes, Seeds(config.seed)
    tests: list[tuple[Literal["test", "held_out"], tuple[int, ...]]] = [("test", seeds.test(n))]
    tests += [("held_out", seeds.held_out(n))] if config.task.held_out else []
    played = [
        await spender.roll_out(
            kind,
            f"{best.candidate.digest}.{n}",
            sampler.subject(best.candidate),
            each,
            horizon=horizon,
            first=TEST_FIRST,
            go_on=lambda early: bool(early.episodes),
        )
        for kind, each in tests
    ]
    test, held_out = (*(one.evaluation for one in played), None)[:2]
    assert test is not None  # noqa: S101 - there is always the first
    marks = await references.measured_on_test(
        spender, spec.action_space, seeds.test(n), horizon, seconds=test.seconds
    )
    taught = await teacher.tested(spender, spec, config, horizon)
    return test, held_out, marks if taught is None else {**marks, teacher.TEACHER: taught}
