"""The number that is reported: the best of a run on test seeds that nothing else ever saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from promptpo.core.budget import TEST_SECONDS
from promptpo.core.candidate import Attempt, Candidate, PlannedTest
from promptpo.core.control import StopReason
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation

if TYPE_CHECKING:
    from promptpo.core.control import Control
    from promptpo.core.feature import Feature, SearchContext
    from promptpo.core.history import History
    from promptpo.core.returns import Evidence

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
        stop: Why it ended.
        references: What reference policies return on the same test seeds.
        held_out: Its score on the variants of a family that are held out; None where there are none.
        findings: What features found out about the best, by name.
        products: Policies of different kinds that the run leaves side by side, the best among them, with their scores on test seeds.
    """

    history: History
    best: Attempt | None
    evidence: Evidence | None
    test: Evaluation | None
    stop: StopReason
    references: Mapping[str, Evaluation] = field(default_factory=dict)
    held_out: Evaluation | None = None
    findings: Mapping[str, Any] = field(default_factory=dict)
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


async def run_final_test(
    context: SearchContext,
    history: History,
    control: Control,
    stop: StopReason,
    tested_so_far: Callable[[Outcome], object],
    features: Sequence[Feature],
    products: Mapping[str, Attempt],
) -> Outcome:
    """Evaluate the best of a search on test seeds, then the other products and the reference policies.

    Args:
        context: Of the run.
        history: All that is known.
        control: Ends the tests from outside.
        stop: Why the search ended.
        tested_so_far: Called as soon as the best is tested, before references are.
        features: Add reference policies and findings.
        products: Policies that the run leaves beside the best, by name.
    """
    best = history.best()
    if best is None:
        return Outcome(history, None, None, None, stop)
    config = context.config
    test = await _test(context, best, control, "test", context.seeds.test(config.most_tested))
    held_out = None
    if config.task.held_out:
        apart = context.seeds.held_out_variants(config.most_tested)
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
        planned = context.journal.find("decision", decision_on(context, best), PlannedTest)
        seeds = context.seeds.test(planned.episodes if planned else config.most_tested)
        references: dict[str, Evaluation] = {}
        findings: dict[str, Any] = {}
        for feature in features:  # those that are not over when the run is ended are missing
            references |= await control.finish(feature.test_beside(seeds, test)) or {}
        for feature in features:
            findings |= await control.finish(feature.inspect(best)) or {}
        outcome = replace(outcome, references=references, findings=findings)
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

    Where somebody ends the run meanwhile, or the environment fails, the first episodes stand for all of them if they were over, and
    None for what was not played; a resumed run plays it.
    """
    config, program, turn = context.config, best.candidate, max(1, len(context.config.task.family))
    first = min(len(seeds), -(-TEST_FIRST // turn) * turn)

    async def play_part(start: int, end: int) -> Evaluation | None:
        key, some = f"{program.digest}.{start}+{end - start}", seeds[start:end]
        rolled = context.work.roll_out(kind, key, program, some, horizon=context.horizon)
        played = await control.finish(rolled)
        return played.evaluation if played is not None else None

    def plan_test() -> PlannedTest:
        each = found.seconds * (2 if config.task.held_out else 1) / first if found is not None else 0.0
        paid = int(TEST_SECONDS / max(each, 1e-9))
        n = len(seeds) if config.test_episodes else min(len(seeds), max(first, paid - paid % turn))
        return PlannedTest(n, len(seeds))

    found = await play_part(0, first)
    if found is None or not found.episodes:
        return found
    n = context.journal.once("decision", decision_on(context, best, kind), plan_test, PlannedTest).episodes
    rest = await play_part(first, n) if n > first else None
    return found if rest is None else found + rest
