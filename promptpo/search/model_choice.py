"""Which of several models writes the next policies: the one that brings most for its money.

A bandit with costs, with the index of fractional KUBE (Tran-Thanh, Chapman, Rogers & Jennings, "Knapsack based
optimal policies for budget-limited multi-armed bandits", AAAI 2012): UCB1's optimistic mean (Auer, Cesa-Bianchi &
Fischer, "Finite-time analysis of the multiarmed bandit problem", 2002) divided by the mean cost,

    (mean reward + sqrt(2 ln t / n)) / mean cost.

A pull is one sample: its answers, repairs included. Its reward, between 0 and 1, is the share of the other
candidates known by the end of its round that it beats beyond noise (`promptpo.run.evidence`), in its tuned form
where there is one; a candidate that does not run, or repeats an earlier program, brings 0. Its cost is dollars
where every model's calls have a known price above 0, else calls. A model that has not been asked goes first.
Samples of a round are allotted at once: each counts as a pull of its model's mean reward until its own is known.

All of it is a function of completed rounds, so that a resumed run chooses the same.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.run.config import Config
    from promptpo.run.journal import Journal
    from promptpo.run.records import Attempt
    from promptpo.search.history import History


@dataclass(frozen=True, slots=True)
class Pull:
    """One sample of a model.

    Attributes:
        model: Who wrote it.
        reward: Between 0 and 1.
        usd: What its answers cost; None where a price is not known.
        calls: How many answers it took.
    """

    model: str
    reward: float
    usd: float | None
    calls: int


def choose_models(llm: LLM, config: Config, history: History, journal: Journal) -> None:
    """Allot the samples of the next round to the models of an ensemble, where that is what the run wants."""
    writers = getattr(llm, "writers", ())
    allot = getattr(llm, "allot", None)
    if config.model_choice != "bandit" or allot is None:
        return
    names = [writer.name for writer in writers]
    allot(history.rounds + 1, allotment(names, pulls(history, journal), config.candidates))


def allotment(models: Sequence[str], done: Sequence[Pull], samples: int) -> list[str]:
    """The model of each sample of a round.

    Args:
        models: Their names.
        done: The pulls of earlier rounds.
        samples: How many the round has.
    """
    of = {model: [pull for pull in done if pull.model == model] for model in models}
    counts = {model: len(of[model]) for model in models}
    means = {model: statistics.fmean(p.reward for p in of[model]) if of[model] else 0.0 for model in models}
    costs = _costs(of)
    chosen: list[str] = []
    for _ in range(samples):
        total = sum(counts.values())

        def index(model: str, total: int = total) -> float:
            if not counts[model]:
                return math.inf
            return (means[model] + math.sqrt(2 * math.log(total) / counts[model])) / costs[model]

        best = max(models, key=index)  # the first of equals
        counts[best] += 1
        chosen.append(best)
    return chosen


def _costs(of: dict[str, list[Pull]]) -> dict[str, float]:
    """Mean cost of a pull by model: in dollars where all are known and above 0, else in calls."""
    dollars = {
        model: statistics.fmean(p.usd for p in done if p.usd is not None)
        for model, done in of.items()
        if done and all(pull.usd is not None for pull in done)
    }
    asked = [model for model, done in of.items() if done]
    if asked and all(dollars.get(model, 0.0) > 0 for model in asked):
        middle = statistics.fmean(dollars.values())  # for those not asked yet, whose turn comes first anyway
        return {model: dollars.get(model, middle) for model in of}
    return {model: statistics.fmean(p.calls for p in done) if done else 1.0 for model, done in of.items()}


def pulls(history: History, journal: Journal) -> list[Pull]:
    """What the candidates of completed rounds have brought and cost, in their order."""
    answers = {event.key: event.data for event in journal.of_kind("completion")}
    costs: dict[str, list[float | None]] = {}
    for data in answers.values():
        costs.setdefault(data.get("candidate") or "", []).append(data["cost_usd"])
    samples: dict[str, list[Attempt]] = {}
    for attempt in history.attempts:
        if attempt.candidate.calls and attempt.candidate.round <= history.rounds:
            samples.setdefault(attempt.candidate.calls[0], []).append(attempt)
    found: list[Pull] = []
    for key, attempts in samples.items():
        model = answers.get(key, {}).get("provider")
        if model:
            paid = costs.get(attempts[0].id, [None])
            usd = sum(cost for cost in paid if cost is not None) if None not in paid else None
            found.append(Pull(model, max(_reward(one, history) for one in attempts), usd, len(paid)))
    return found


def _reward(attempt: Attempt, history: History) -> float:
    """The share of the other candidates known by the end of its round that it beats beyond noise."""
    candidate = attempt.candidate
    if candidate.duplicate_of or not history.runs(attempt):
        return 0.0
    others = [
        other
        for other in history.attempts
        if other.candidate.round <= candidate.round and other.candidate.calls[:1] != candidate.calls[:1]
    ]
    if not others:
        return 1.0
    beaten = sum(not history.runs(one) or history.against(attempt, one).verdict > 0 for one in others)
    return beaten / len(others)
