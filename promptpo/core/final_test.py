"""The final test: the best of a run plays test seeds, which are used for nothing else, and variants held out of a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from promptpo.core.budget import TEST_SECONDS
from promptpo.core.candidate import Attempt, Candidate, PlannedTest
from promptpo.core.control import GRACE_SECONDS, Control, StopReason
from promptpo.core.feature import Feature, SearchContext, merge
from promptpo.core.history import History
from promptpo.core.returns import Evidence
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation

TEST_FIRST = 10
"""Number of test episodes played first; a policy that fails in all of them is not tested further."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a search.

    Attributes:
        best: The best of the run; None if nothing ran.
        evidence: Training and validation episodes on which the best was chosen.
        test: Evaluation on test seeds, over the variants that were trained on; None if the run ended before the test.
        references: Evaluations of reference policies on the same test seeds, by name.
        held_out: Evaluation on the variants that only the test plays; None if there are none.
        findings: Features' findings about the best, by name.
        products: Policies of different kinds that the run delivers, including the best, with their evaluations on test seeds.
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
        """The best candidate; one without a source if nothing ran."""
        return self.best.candidate if self.best else Candidate("", "", 0)

    @property
    def episodes(self) -> Sequence[EpisodeRecord]:
        """Test episodes of the best or, if it was not tested, those on which it was chosen."""
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
    """Test the best of a search, then the other products of the run and the reference policies.

    `tested_so_far` is called as soon as the best is tested. What is unfinished when `control` stops the run is missing.
    """
    best, config = history.best(), context.config
    if best is None:
        return Outcome(history, None, None, None, stop)
    seeds = context.seeds.test(config.most_tested)
    test, held_out = await _test(context, best, control, "test", seeds), None
    if config.task.held_out:
        held_out = await _test(context, best, control, "held_out", context.seeds.variants(config.most_tested))
    outcome = Outcome(history, best, history.evidence(best), test, stop, held_out=held_out)
    if test is None:
        return outcome
    tested_so_far(outcome)
    tests: dict[str, tuple[Attempt, Evaluation | None]] = {}
    for name, product in products.items():
        same = product.candidate.digest == best.candidate.digest
        tests[name] = product, test if same else await _test(context, product, control, "product", seeds)
    planned = context.journal.find("decision", decision_on(context, best), PlannedTest)
    seeds = seeds[: planned.episodes] if planned else seeds
    beside = [await control.finish(feature.test_beside(seeds, test)) or {} for feature in features]
    findings = [await control.finish(feature.inspect(best)) or {} for feature in features]
    return replace(outcome, products=tests, references=merge(beside), findings=merge(findings))


def decision_on(context: SearchContext, best: Attempt, kind: str = "test") -> str:
    """Return the key of the decision on the number of test episodes."""
    return f"{kind}.{best.candidate.digest}.{context.config.most_tested}"


async def _test(
    context: SearchContext,
    best: Attempt,
    control: Control,
    kind: Literal["test", "held_out", "product"],
    seeds: Sequence[int],
) -> Evaluation | None:
    """Play a few episodes, then as many more as the user asked for or, by the time that these took, as a limited time allows.

    Each variant of a family is tested equally often. If the run is stopped or the environment fails, the result is the first episodes
    if they were complete, otherwise None; a resumed run plays the missing ones.
    """
    config, program, variants = context.config, best.candidate, max(1, len(context.config.task.family))
    first = min(len(seeds), -(-TEST_FIRST // variants) * variants)  # rounded up to whole families

    async def play(start: int, end: int) -> Evaluation | None:
        key = f"{program.digest}.{start}+{end - start}"
        work = context.work.roll_out(kind, key, program, seeds[start:end], horizon=context.horizon)
        # What the search left to conclude may have taken the time of a stopped run.
        played = await control.finish(work, at_least=GRACE_SECONDS * (kind == "test" and not start))
        return None if played is None else played.evaluation

    def plan(early: Evaluation) -> PlannedTest:
        if config.test_episodes:
            return PlannedTest(len(seeds), len(seeds))
        tests = 2 if config.task.held_out else 1
        affordable = int(TEST_SECONDS / max(tests * early.seconds / first, 1e-9))
        return PlannedTest(min(len(seeds), max(first, affordable - affordable % variants)), len(seeds))

    early = await play(0, first)
    if early is None or not early.episodes:
        return early
    decision = decision_on(context, best, kind)
    planned = context.journal.once("decision", decision, lambda: plan(early), PlannedTest)
    rest = await play(first, planned.episodes) if planned.episodes > first else None
    return early if rest is None else early + rest
