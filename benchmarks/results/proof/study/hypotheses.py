"""The hypotheses of ``benchmarks/suites/proof.md``, held against the scores by the rules that stand there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scores import LEARNERS, LLM, NAMED, SuiteScores
from promptpo_benchmarks.statistics.across_tasks import chance_of_improvement, iqm_across, iqm_lead, common_tasks
from promptpo_benchmarks.statistics.bootstrap import Estimated

HOLDS, FAILS, OPEN = "holds", "fails", "undecided"
SUFFICIENT, TOO_FEW = 14, 10
BETTER, WORSE, TOO_FEW_BETTER = 18, 4, 14
LIKELY, CHANCE = 0.6, 0.5
KNOWLEDGE, EQUAL, NAMES = 0.1, 0.05, 0.1


@dataclass(frozen=True, slots=True)
class HypothesisFinding:
    """Outcome of a hypothesis.

    Attributes:
        claim: The hypothesis in a few words.
        found: What was measured.
        verdict: "holds", "fails" or "undecided".
    """

    claim: str
    found: str
    verdict: str


def against_learning(
    scores: SuiteScores, among: Sequence[str] = LEARNERS, *, simulators: bool = False
) -> dict[str, int]:
    """Task to 1 where the language model is better than the best learner by more than the intervals, -1 worse, 0 neither.

    Args:
        scores: All scores.
        among: The learners.
        simulators: Whether a run with a simulator replaces the one without.
    """
    found = {}
    for task in scores.tasks:
        learner = scores.learner(task, among)
        model = scores.latest(task) if simulators else scores.found.get((LLM, task))
        if learner is not None and model is not None:
            theirs = learner[1].spread
            found[task] = (model.spread.low > theirs.high) - (model.spread.high < theirs.low)
    return found


def answers(scores: SuiteScores) -> list[HypothesisFinding]:
    """All seven in order, the second three times: against the learners named beforehand, against all, and against all with simulators. Those that have no runs are left out, those that others could still decide are undecided."""
    asked: list[Callable[[SuiteScores], HypothesisFinding | None]] = [
        _sufficient,
        lambda s: _better(s, NAMED, "better than the best of PPO, TRPO and SAC at the same steps"),
        lambda s: _better(s, LEARNERS, "better than the best of all learners at the same steps"),
        lambda s: _better(s, LEARNERS, "the same with simulators", simulators=True),
        lambda s: _improves(s, "feedback matters", "best-of-n"),
        lambda s: _improves(s, "what this project adds matters", "promptpo-paper"),
        _knowledge,
        _names,
        _locomotion,
    ]
    return [answer for ask in asked if (answer := ask(scores)) is not None]


def said(value: Estimated) -> str:
    """An interval in words."""
    return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"


def _sufficient(scores: SuiteScores) -> HypothesisFinding | None:
    known = [scores.found[LLM, task] for task in scores.tasks if (LLM, task) in scores.found]
    n = sum(one.enough for one in known)
    missing = len(scores.tasks) - len(known)
    verdict = HOLDS if n >= SUFFICIENT else FAILS if n + missing < TOO_FEW else OPEN
    return HypothesisFinding("sufficient on most tasks", f"{n} of {len(known)}", verdict) if known else None


def _better(
    scores: SuiteScores, among: Sequence[str], claim: str, *, simulators: bool = False
) -> HypothesisFinding | None:
    known, unlearned = against_learning(scores, among, simulators=simulators), scores.unlearned(among)
    if not known:
        return None
    found = list(known.values())
    up, down = found.count(1), found.count(-1)
    missing = len(scores.tasks) - len(found)
    settled = [sign for task, sign in known.items() if task not in unlearned]
    sure, open_ = (
        settled.count(1),
        len(scores.tasks) - len(settled),
    )  # another learner may do better than the best so far
    holds = sure >= BETTER and settled.count(-1) + open_ <= WORSE
    verdict = HOLDS if holds else FAILS if up + missing < TOO_FEW_BETTER else OPEN
    text = f"better on {up}, worse on {down}, neither on {found.count(0)} of {len(found)}"
    return HypothesisFinding(claim, text, verdict)


def _improves(scores: SuiteScores, claim: str, other: str) -> HypothesisFinding | None:
    one, theirs = scores.runs_of(LLM), scores.runs_of(other)
    both = common_tasks(one, theirs)
    if not both:
        return None
    chance = chance_of_improvement(one, theirs)
    holds = chance.value > LIKELY and chance.low > CHANCE
    verdict = HOLDS if holds else FAILS if chance.low <= CHANCE else OPEN
    return HypothesisFinding(
        claim, f"{LLM} beats {other} with probability {said(chance)} ({len(both)} tasks)", verdict
    )


def _knowledge(scores: SuiteScores) -> HypothesisFinding | None:
    lead = _lead(scores, "promptpo-bare")
    if lead is None:
        return None
    verdict = HOLDS if lead.value >= KNOWLEDGE else FAILS if lead.value <= EQUAL else OPEN
    return HypothesisFinding(
        "knowledge of the environment matters", f"interquartile mean higher by {said(lead)}", verdict
    )


def _names(scores: SuiteScores) -> HypothesisFinding | None:
    lead = _lead(scores, "promptpo-anonymous")
    if lead is None:
        return None
    verdict = HOLDS if abs(lead.value) <= NAMES else FAILS
    return HypothesisFinding("names alone do not", f"interquartile mean higher by {said(lead)}", verdict)


def _lead(scores: SuiteScores, other: str) -> Estimated | None:
    theirs = scores.runs_of(other)
    one = scores.runs_of(LLM)
    return iqm_lead(one, theirs) if common_tasks(one, theirs) else None


def _locomotion(scores: SuiteScores) -> HypothesisFinding | None:
    shares = {}
    for name, tasks in scores.groups.items():
        known = [scores.found[LLM, task].enough for task in tasks if (LLM, task) in scores.found]
        if known:
            shares[name] = sum(known) / len(known)
    if "MuJoCo" not in shares:
        return None
    lowest = min(shares.values())
    alone = [name for name, share in shares.items() if share == lowest] == ["MuJoCo"]
    verdict = HOLDS if alone else OPEN if shares["MuJoCo"] == lowest else FAILS
    text = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    return HypothesisFinding("fine locomotion is where it is not enough", f"sufficient: {text}", verdict)


def overview(scores: SuiteScores) -> list[tuple[str, int, int, Estimated]]:
    """(method, tasks, how many of them are sufficient, interquartile mean over tasks), best first."""
    rows = []
    for method in dict.fromkeys(method for method, _ in scores.found):
        runs = scores.runs_of(method)
        enough = sum(scores.found[method, task].enough for task in runs)
        rows.append((method, len(runs), enough, iqm_across(runs)))
    return sorted(rows, key=lambda row: (row[1], row[3].value), reverse=True)
