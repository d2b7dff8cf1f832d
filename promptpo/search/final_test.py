"""The number that is reported: the best of a run on test seeds that nothing else ever saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.preflight import final_test
from promptpo.run.records import Attempt
from promptpo.search import references

if TYPE_CHECKING:
    from promptpo.run.control import Control
    from promptpo.run.evidence import Evidence
    from promptpo.run.history import History
    from promptpo.search.context import SearchContext

TEST_FIRST = 10
"""A policy that fails in each of so many test episodes is not tested in the others."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended.

    Attributes:
        history: All attempts and what is known of their returns.
        best: The best of the run; None when nothing ran.
        evidence: Its training and validation episodes, which chose it.
        test: Its score on held-out test seeds; None where the run was ended before it was tested.
        stop: Why it ended, as a sentence without a full stop.
        references: What policies that serve as marks earn on the same test seeds.
        held_out: Its score on the variants of a family that are held out; None where there are none.
        fidelity: How much the best acts like the teacher; None without one.
        judged: Whether the best does what the goal asks; None without one.
    """

    history: History
    best: Attempt | None
    evidence: Evidence | None
    test: Evaluation | None
    stop: str
    references: Mapping[str, Evaluation] = field(default_factory=dict)
    held_out: Evaluation | None = None
    fidelity: Mapping[str, Any] | None = None
    judged: Mapping[str, Any] | None = None


async def concluded(
    context: SearchContext,
    history: History,
    control: Control,
    stop: str,
    tested_so_far: Callable[[Outcome], object],
) -> Outcome:
    """The best of a search on test seeds, and beside it what serves as marks.

    Args:
        context: Of the run.
        history: All that is known.
        control: Ends the tests from outside.
        stop: Why the search ended.
        tested_so_far: Called as soon as the best is tested, before references are.

    Raises:
        EnvironmentFaultError: The environment failed.
    """
    best = history.best()
    if best is None:
        return Outcome(history, None, None, None, stop)
    n = _episodes(context, history, best)
    test, held_out = await _tested(context, best, control, n)
    outcome = Outcome(history, best, history.evidence(best), test, stop, held_out=held_out)
    if test is not None:
        tested_so_far(outcome)
        references = await _marks(context, test, control, n)
        alike = await control.finished(_fidelity(context, best))
        outcome = replace(outcome, references=references, fidelity=alike)
    return outcome


def _episodes(context: SearchContext, history: History, best: Attempt) -> int:
    """How many episodes the test is of: as the user said, or as many as its policy plays in a bounded time."""
    config, candidate = context.config, best.candidate
    looks = [best.evaluation, *history.looks_of(best)]
    planned = context.journal.once(
        "decision",
        f"test.{candidate.digest}.{config.most_tested}",
        lambda: final_test(config, looks, context.spec.sample_rate, least=TEST_FIRST),
    )
    return int(planned["episodes"])


async def _tested(
    context: SearchContext, best: Attempt, control: Control, n: int
) -> tuple[Evaluation | None, Evaluation | None]:
    """The best's score on test seeds, and on variants held out from training.

    Where somebody ends the run meanwhile, the first episodes stand for all of them if they were over, and
    None for what was not played; a resumed run plays it.
    """
    seeds, spender = context.seeds, context.spender
    tests: list[tuple[Literal["test", "held_out"], tuple[int, ...]]] = [("test", seeds.test(n))]
    tests += [("held_out", seeds.held_out(n))] if context.config.task.held_out else []
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
                best.candidate,
                each,
                horizon=context.horizon,
                early=(TEST_FIRST, go_on),
            )
        )
        found.append(played.evaluation if played is not None else next(iter(first), None))
    test, held_out = (*found, None)[:2]
    return test, held_out


async def _marks(
    context: SearchContext, test: Evaluation, control: Control, n: int
) -> Mapping[str, Evaluation]:
    """What references earn on the test seeds; those that are missing were not over when somebody ended the run."""
    seeds = context.seeds.test(n)
    measured = references.measured_on_test(
        context.spender,
        context.spec.action_space,
        seeds,
        context.horizon,
        seconds=test.seconds,
        steps=test.steps,
    )
    found = dict(await control.finished(measured) or {})
    if context.config.teacher is None:
        return found
    from promptpo.search import teacher

    taught = teacher.tested(context.spender, context.spec, context.config, context.horizon, seeds)
    played = await control.finished(taught)
    return found if played is None else {**found, teacher.TEACHER: played}


async def _fidelity(context: SearchContext, best: Attempt) -> Mapping[str, Any] | None:
    """How much the best acts like the teacher; None without one."""
    if context.config.teacher is None:
        return None
    from promptpo.search import teacher

    return await teacher.fidelity(context.spender, context.spec, context.config, best.candidate)
