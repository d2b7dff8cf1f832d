"""The number that is reported: the best of a run on test seeds that nothing else ever saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.budget import TEST_SECONDS
from promptpo.run.records import TEACHER, Attempt, Candidate
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
        products: Policies of different kinds that the run leaves side by side, the best among them, with their scores on test seeds.
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
    products: Mapping[str, tuple[Attempt, Evaluation | None]] = field(default_factory=dict)

    @property
    def program(self) -> Candidate:
        """The best; one without a source where nothing ran."""
        return self.best.candidate if self.best else Candidate("", "", 0)

    @property
    def episodes(self) -> Sequence[EpisodeRecord]:
        """Those of the test of the best, or, where it was not tested, those that chose it."""
        known = self.test if self.test is not None and self.test.episodes else self.evidence
        return known.episodes if known is not None else ()


async def conclude(
    context: SearchContext,
    history: History,
    control: Control,
    stop: str,
    tested_so_far: Callable[[Outcome], object],
    products: Mapping[str, Attempt],
) -> Outcome:
    """The best of a search on test seeds, and beside it what serves as marks.

    Args:
        context: Of the run.
        history: All that is known.
        control: Ends the tests from outside.
        stop: Why the search ended.
        tested_so_far: Called as soon as the best is tested, before references are.
        products: Policies of different kinds that are tested beside the best.

    Raises:
        EnvironmentFaultError: The environment failed.
    """
    best = history.best()
    if best is None:
        return Outcome(history, None, None, None, stop)
    config = context.config
    test = await _test(context, best, control, "test", context.seeds.test(config.most_tested))
    held_out = None
    if config.task.held_out:
        apart = context.seeds.held_out(config.most_tested)
        held_out = await _test(context, best, control, "held_out", apart)
    outcome = Outcome(history, best, history.evidence(best), test, stop, held_out=held_out)
    if test is not None:
        tested_so_far(outcome)
        tests: dict[str, tuple[Attempt, Evaluation | None]] = {}
        for name, product in products.items():
            same = product.candidate.digest == best.candidate.digest
            seeds = context.seeds.test(config.most_tested)
            tests[name] = (
                product,
                test if same else await _test(context, product, control, "product", seeds),
            )
        outcome = replace(outcome, products=tests)
        references = await _test_references(context, best, test, control)
        alike = await control.finish(_fidelity(context, best))
        outcome = replace(outcome, references=references, fidelity=alike)
    return outcome


def decision_on(context: SearchContext, best: Attempt, kind: str = "test") -> str:
    """The name of the decision on how many episodes a test is of."""
    return f"{kind}.{best.candidate.digest}.{context.config.most_tested}"


async def _test(
    context: SearchContext,
    best: Attempt,
    control: Control,
    kind: Literal["test", "held_out", "product"],
    seeds: Sequence[int],
) -> Evaluation | None:
    """The best's score on test seeds: on all that the user said, else on as many as its policy plays in a bounded time.

    Where somebody ends the run meanwhile, the first episodes stand for all of them if they were over, and
    None for what was not played; a resumed run plays it.
    """
    config, program, turn = context.config, best.candidate, max(1, len(context.config.task.family))
    first = min(len(seeds), -(-TEST_FIRST // turn) * turn)

    async def part(start: int, end: int) -> Evaluation | None:
        key, some = f"{program.digest}.{start}+{end - start}", seeds[start:end]
        rolled = context.spender.roll_out(kind, key, program, some, horizon=context.horizon)
        played = await control.finish(rolled)
        return played.evaluation if played is not None else None

    def decided() -> dict[str, int]:
        each = found.seconds * (2 if config.task.held_out else 1) / first if found is not None else 0.0
        paid = int(TEST_SECONDS / max(each, 1e-9))
        n = len(seeds) if config.test_episodes else min(len(seeds), max(first, paid - paid % turn))
        return {"episodes": n, "of": len(seeds)}

    found = await part(0, first)
    if found is None or not found.episodes:
        return found
    n = context.journal.once("decision", decision_on(context, best, kind), decided)["episodes"]
    rest = await part(first, n) if n > first else None
    return found if rest is None else found + rest


async def _test_references(
    context: SearchContext, best: Attempt, test: Evaluation, control: Control
) -> Mapping[str, Evaluation]:
    """Returns of the references on the test seeds; those that were not over when the run was ended are missing."""
    planned = context.journal.find("decision", decision_on(context, best))
    seeds = context.seeds.test(planned["episodes"] if planned else context.config.most_tested)
    measured = references.measure_on_test(context, seeds, test)
    found = dict(await control.finish(measured) or {})
    if context.config.teacher is None:
        return found
    from promptpo.search import teacher

    taught = teacher.test_teacher(context, seeds)
    played = await control.finish(taught)
    return found if played is None else {**found, TEACHER: played}


async def _fidelity(context: SearchContext, best: Attempt) -> Mapping[str, Any] | None:
    """How much the best acts like the teacher; None without one."""
    if context.config.teacher is None:
        return None
    from promptpo.search import teacher

    return await teacher.fidelity(context, best.candidate)
