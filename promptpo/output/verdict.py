"""What a result is worth, in a sentence or two that a person can act on.

A return says little alone. Here it is held against what random actions and zeros earn on the same test
seeds, in pairs and with its noise, and against the threshold; then comes what stood in the way, as far as
the run can tell, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.output.report.result import MARKS, REFERENCES, TEACHER
from promptpo.run.evidence import Difference, Evidence
from promptpo.telling.feedback import number, with_noise

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import Evaluation
    from promptpo.run.state import RunState
    from promptpo.run.state_values import CandidateState

ALMOST_ALL = 0.95
"""Share of test episodes from which an environment that reports success counts as solved."""

LONG = 0.1
"""Share of the step budget from which one episode is called long."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a verdict is chosen by.

    Attributes:
        test: Episodes of the best policy on test seeds; None where no policy ran.
        failed: Test episodes in which it failed.
        references: Episodes of "random", "zero" and "teacher" on the same seeds.
        threshold: The return that counts as solved; None where there is none.
        language_model: Whether a language model wrote the policies.
        tried: How many policies were tried.
        flat: The return of every episode of every policy, where there is only one; None otherwise.
        never_succeeded: Success is reported, and no episode of any policy had any.
        constant: The action that the best gives in every step; empty where it gives several.
        longest: Steps of the longest episode.
        budget: The limit on steps; None without one.
        out_of_steps: The step budget ended the search.
        rounds: (complete, planned).
        given: Whether the user gave policies to begin with.
        best: The best policy's name; empty where none ran.
        wanted: Planned test episodes, where somebody ended the run before all that follows the search was over; else 0.
    """

    test: Evidence | None = None
    failed: int = 0
    references: Mapping[str, Evidence] = field(default_factory=dict)
    threshold: float | None = None
    language_model: bool = True
    tried: int = 0
    flat: float | None = None
    never_succeeded: bool = False
    constant: str = ""
    longest: int = 0
    budget: int | None = None
    out_of_steps: bool = False
    rounds: tuple[int, int] = (0, 0)
    given: bool = False
    best: str = ""
    wanted: int = 0


def verdict(facts: Facts) -> str:
    """What came of it, why, and what to do: one to three sentences."""
    return f"{_untested(facts)} {_came_of_it(facts)}".strip()


def _untested(facts: Facts) -> str:
    """What was not tested since somebody ended the run; empty where all was."""
    if not facts.wanted or not facts.best:
        return ""
    done = len(facts.test.episodes) + facts.failed if facts.test is not None else 0
    missing = [REFERENCES[name] for name in MARKS if name not in facts.references]
    if facts.test is None:
        what = f"{facts.best} is the best so far by its training and validation episodes, and was not tested"
    elif done < facts.wanted:
        what = f"Only {done} of {facts.wanted} test episodes were played, and none of {' and '.join(missing) or 'others'}"
    elif missing:
        what = f"{' and '.join(missing).capitalize()} were not played on the test seeds"
    else:
        return ""
    return f"{what}, since the run was ended; promptpo resume goes on."


def _came_of_it(facts: Facts) -> str:
    if facts.best and facts.test is None:
        return ""
    if facts.test is None or not facts.test.episodes:
        return _nothing_ran(facts)
    head, good = _standing(facts, facts.test)
    taught, behind = _beside_teacher(facts, facts.test)
    head = f"{head} {taught}".strip()
    if good and not behind:
        return head
    cause = next(_causes(facts), "")
    return f"{head} {cause or _advice(facts)}"


def facts_of(
    state: RunState,
    best: CandidateState | None,
    test: Evaluation | None,
    *,
    references: Mapping[str, Evaluation],
    threshold: float | None,
    language_model: bool,
    stop: str,
    ended: str = "",
) -> Facts:
    """The facts of a run.

    Args:
        state: All that its journal tells.
        best: The candidate that was tested.
        test: On test seeds.
        references: On the same.
        threshold: The return that counts as solved.
        language_model: Whether one was asked.
        stop: Why the search ended.
        ended: Why somebody ended the run from outside; empty where nobody did.
    """
    looked = [one.evidence for one in state.candidates if one.ran]
    marks = {name: Evidence.of(evaluation.episodes) for name, evaluation in references.items()}
    started = [
        Evidence.of(evaluation.episodes)
        for name, evaluation in state.references.items()
        if not name.startswith(TEACHER)  # what a policy of this run was not able to is not told by it
    ]
    knowing_nothing = [mark for name, mark in marks.items() if name != TEACHER]
    everything = [*looked, *knowing_nothing, *started, *([Evidence.of(test.episodes)] if test else [])]
    returns = {episode.return_ for evidence in everything for episode in evidence.episodes}
    successes = [e.success for evidence in everything for e in evidence.episodes if e.success is not None]
    return Facts(
        test=Evidence.of(test.episodes) if test else None,
        failed=test.failed if test else 0,
        references=marks,
        threshold=threshold,
        language_model=language_model,
        tried=len(state.candidates),
        flat=returns.pop() if len(returns) == 1 and len(everything) > 1 else None,
        never_succeeded=bool(successes) and not any(successes),
        constant=state.constant_actions.get(best.attempt.candidate.digest, "") if best else "",
        longest=max((e.steps for evidence in everything for e in evidence.episodes), default=0),
        budget=state.config.budget.steps,
        out_of_steps="environment steps" in stop,
        rounds=(len(state.rounds), state.config.budget.rounds),
        given=bool(state.config.start),
        best=best.id if best else "",
        wanted=state.planned_test if ended else 0,
    )


def _nothing_ran(facts: Facts) -> str:
    if not facts.tried and facts.out_of_steps:
        return (
            f"No policy ran: the {facts.budget or 0:,} steps of the budget ended before one had played its "
            "training episodes; raise --max-steps, or set fewer --episodes or a shorter --max-episode-steps."
        )
    if not facts.tried:
        return "No policy ran: none was written before the run ended; go on with promptpo resume."
    if facts.test is not None or facts.failed:
        return "The best policy failed in every test episode; see the error with promptpo show, and give the run more rounds."
    tried = "the one policy that was written" if facts.tried == 1 else f"each of the {facts.tried} policies"
    return (
        f"No policy ran: {tried} failed; see the errors with promptpo show, then describe what is misread "
        "(--hint, or an edited --spec), allow more --repairs, or take a stronger model."
    )


def _standing(facts: Facts, test: Evidence) -> tuple[str, bool]:
    """How the best stands against marks and threshold, and whether that is all there is to say."""
    mean, marks = test.mean_return, _compared(facts, test)
    hardest = min(marks, key=lambda mark: mark[1].verdict, default=None)
    sign = 1 if hardest is None else hardest[1].verdict
    solved = _solved(facts, test)
    if hardest is not None and sign < 0:
        return f"Worse than {_against(*hardest, mean)}.", False
    if solved:
        if hardest is None or sign:
            return f"{solved}.", True
        name = REFERENCES.get(hardest[0], hardest[0])
        return f"{solved}, but {name} earned as much: the task tells no policies apart.", True
    if hardest is not None and not sign:
        if hardest[1].tie:
            same = REFERENCES.get(hardest[0], hardest[0])
            return f"The same as {same} in every test episode: {number(mean)}.", False
        return f"No better than {_against(*hardest, mean)}.", False
    better = f"Better than {_against(*marks[0], mean)}" if marks else f"Held-out return {number(mean)}"
    if facts.threshold is not None:
        return f"{better}, but below the {number(facts.threshold)} that counts as solved.", False
    return f"{better}.", not (facts.never_succeeded or facts.constant)


def _beside_teacher(facts: Facts, test: Evidence) -> tuple[str, bool]:
    """How the best stands against the teacher, and whether it is behind; nothing without one."""
    mark = facts.references.get(TEACHER, Evidence())
    difference = test.against(mark)
    if len(difference.returns) < 2:  # noqa: PLR2004 - nothing to compare
        return "", False
    equal = "The same as" if difference.tie else "Not to be told from"
    how = {1: "Better than", -1: "Behind"}.get(difference.verdict, equal)
    against = _against(TEACHER, difference, mark.mean_return, test.mean_return)
    return f"{how} {against}.", difference.verdict < 0


def _compared(facts: Facts, test: Evidence) -> list[tuple[str, Difference, float]]:
    """(name, difference in pairs, mean return) of the marks that know nothing, the hardest to beat first."""
    found = []
    for name, mark in facts.references.items():
        if name == TEACHER:
            continue
        difference = test.against(mark)
        if len(difference.returns) > 1:
            found.append((name, difference, mark.mean_return))
    return sorted(found, key=lambda mark: -mark[2])


def _against(name: str, difference: Difference, theirs: float, mean: float) -> str:
    told = with_noise(difference.mean, difference.standard_error)
    return (
        f"{REFERENCES.get(name, name)}: {number(mean)} against {number(theirs)} "
        f"(difference {told} over {len(difference.returns)} shared episodes)"
    )


def _solved(facts: Facts, test: Evidence) -> str:
    if facts.failed:
        return ""
    rate = test.success_rate
    if facts.threshold is not None and test.mean_return >= facts.threshold:
        return f"Solved: the held-out return of {number(test.mean_return)} reaches {number(facts.threshold)}"
    if rate is not None and rate >= ALMOST_ALL:
        return f"Solved: success in {rate:.0%} of the test episodes"
    return ""


def _causes(facts: Facts) -> Iterator[str]:
    """What stood in the way, each with what to do; the one that explains most first."""
    told = "say in words how the task is done (--hint)"
    hint = told if facts.language_model else "use a language model (--model), which can be told how (--hint)"
    if facts.flat is not None:
        yield (
            f"Every episode of every policy earned {number(facts.flat)}, so nothing told them apart: {hint}, "
            "give the environment a reward that shows progress, or allow longer episodes (--max-episode-steps)."
        )
    if facts.never_succeeded:
        limit = "" if facts.language_model else "Program search knows nothing of the task. "
        yield (
            f"No episode of any policy succeeded. {limit}To help, {hint}{_own(facts)}, or raise --max-steps."
        )
    if facts.out_of_steps and facts.budget and facts.longest >= LONG * facts.budget:
        yield (
            f"One episode took {facts.longest:,} of the {facts.budget:,} steps there were: set a shorter "
            "--max-episode-steps, or raise --max-steps."
        )
    if facts.constant:
        yield f"It gives the same action in every step ({facts.constant}): {hint}, or allow more --rounds."
    done, planned = facts.rounds
    if facts.out_of_steps and done < planned:
        yield f"The step budget ended after {done} of {planned} rounds: go on with promptpo resume and more --max-steps."  # fmt: skip


def _advice(facts: Facts) -> str:
    """What to do where nothing else is known."""
    if facts.language_model:
        return f"Describe the task (--hint){_own(facts)}, or raise --rounds and --max-steps."
    return (
        "Program search tries sums, tables and short lists of rules, and knows nothing of the task: use a language model (--model)"
        f"{_own(facts)}, or raise --max-steps."
    )


def _own(facts: Facts) -> str:
    """The advice to give a controller, for who gave none."""
    return "" if facts.given else ", start from a controller of your own (--start)"
