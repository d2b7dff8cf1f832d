"""The verdict on a result, in a sentence or two that a person can act on.

A return alone says little. Here it is compared with the returns of random actions and zeros on the same test seeds, in
pairs and with its noise, and with the threshold; then follow the obstacles, as far as the run knows them, and what to
do about them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from promptpo.core.returns import Evidence
from promptpo.output.sentences import REFERENCES, TEACHER, sentence
from promptpo.program.reference_policies import REFERENCE_POLICIES
from promptpo.prompts.feedback import number
from promptpo.rollouts.evaluation import extremes

if TYPE_CHECKING:
    from promptpo.core.final_test import Outcome
    from promptpo.core.returns import PairedDifference
    from promptpo.output.report.scores import EpisodeKind
    from promptpo.rollouts.evaluation import EpisodeRecord
    from promptpo.run.state import RunState

ALMOST_ALL = 0.95
"""Share of successful test episodes from which an environment counts as solved."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that determine the verdict.

    Attributes:
        test: Episodes of the best policy on test seeds; None if no policy ran.
        failed: Test episodes in which it failed.
        references: Episodes of "random", "zero" and "teacher" on the same seeds.
        threshold: The return that counts as solved; None if there is none.
        language_model: Whether a language model wrote the policies.
        tried: Number of policies tried.
        incomplete: Number of the model's answers that were cut off or empty.
        undefined: Whether a policy played its episodes without a finite mean return.
        flat: The return of every episode of every policy, tuning included, if all are equal and success does not
            differ either; None otherwise.
        cut: Whether an episode was truncated.
        never_succeeded: Whether success is reported and no episode of any policy had any.
        constant: The action that the best written policy takes in every step; empty if it takes several.
        out_of_steps: Whether the step budget ended the search.
        out_of_time: Whether the time limit did.
        best: Name of the best policy; empty if none ran.
        given: Whether the user gave initial policies.
        wanted: Number of planned test episodes, if somebody ended the run before it was complete; else 0.
        episodes: How test episodes depend on each other.
        simulated: Number of policies found in a simulator; None if no simulator was written.
    """

    test: Evidence | None = None
    failed: int = 0
    references: Mapping[str, Evidence] = field(default_factory=dict)
    threshold: float | None = None
    language_model: bool = True
    tried: int = 0
    incomplete: int = 0
    undefined: bool = False
    flat: float | None = None
    cut: bool = False
    never_succeeded: bool = False
    constant: str = ""
    out_of_steps: bool = False
    out_of_time: bool = False
    best: str = ""
    given: bool = False
    wanted: int = 0
    episodes: EpisodeKind = "paired"
    simulated: int | None = None


def verdict(facts: Facts) -> str:
    """Say how good the result is, why, and what to do next: one to three sentences."""
    test, sentences = facts.test, []
    if facts.wanted and facts.best:
        missing = " and ".join(
            REFERENCES[name] for name in REFERENCE_POLICIES if name not in facts.references
        )
        sentences.append(sentence("untested", facts, missing))
    if test is not None and test.episodes:
        sentences += _standing(facts, test)
    elif test is not None or not facts.best:
        sentences.append(sentence("nothing_ran", facts))
    return " ".join(filter(None, sentences))


def facts_of(
    state: RunState, outcome: Outcome, *, threshold: float | None, language_model: bool, ended: str = ""
) -> Facts:
    """Return the facts of a run.

    Args:
        state: State of the run.
        outcome: How its search ended.
        threshold: The return that counts as solved.
        language_model: Whether a language model wrote the policies.
        ended: Why somebody ended the run from outside; empty if nobody did.
    """
    best, test, references = outcome.best, outcome.test, outcome.references
    # the teacher does not show what policies of this run were unable to do
    evaluations = [
        evaluation
        for name, evaluation in [*state.history.reference_evaluations.items(), *references.items()]
        if not name.startswith(TEACHER)
    ]
    played = [candidate.evidence.episodes for candidate in state.candidates if candidate.ran]
    played += [evaluation.episodes for evaluation in (*evaluations, test) if evaluation is not None]
    episodes = [episode for several in played for episode in several]
    written = next((a for a in state.history.ranking() if a.candidate.origin != "reference"), best)
    return Facts(
        test=Evidence.of(test.episodes) if test else None,
        failed=test.failed if test else 0,
        references={name: Evidence.of(evaluation.episodes) for name, evaluation in references.items()},
        threshold=threshold,
        language_model=language_model,
        tried=len(state.candidates),
        undefined=any(not each.ran and each.attempt.evaluation.outcome == "ok" for each in state.candidates),
        incomplete=sum(
            call["finish"] == "length" or not (call["text"].strip() or call["finish"] == "refusal")
            for call in state.payloads["completion"].values()
        ),
        flat=_flat_return(state, episodes) if len(played) > 1 else None,
        cut=any(episode.truncated for episode in episodes),
        never_succeeded={episode.success for episode in episodes} - {None} == {False},
        constant=written.diagnosis.constant if written else "",
        out_of_steps=outcome.stop.kind == "steps",
        out_of_time=outcome.stop.kind == "seconds",
        best=best.id if best else "",
        given=bool(state.config.start),
        wanted=state.planned_test if ended else 0,
        simulated=sum(key[1:].isdigit() for key in state.payloads["simulated"])
        if state.payloads["simulator"]
        else None,
    )


def _flat_return(state: RunState, episodes: Sequence[EpisodeRecord]) -> float | None:
    """Return what each of these episodes returned, if nothing distinguishes policies, in tuning neither; else None."""
    returns = {episode.return_ for episode in episodes}
    successes = {episode.success for episode in episodes} - {None}
    rewards = extremes(episode.extremes for episode in episodes)
    tuned = [candidate.attempt.candidate.sensitivity.values() for candidate in state.candidates]
    if len(returns) != 1 or len(successes) > 1 or rewards != extremes([rewards, state.history.earned]):
        return None
    return None if any(parameter.share for known in tuned for parameter in known) else returns.pop()


def _standing(facts: Facts, test: Evidence) -> list[str]:
    """Compare the best policy with references, threshold and teacher, and give advice unless the result needs none."""
    if not math.isfinite(test.mean_return):
        return ["Have the environment's step return finite numbers, then start a new run."]
    pairs = _compare_with_references(facts, test)
    references, solved = [name for name in pairs if name != TEACHER], _say_solved(facts, test)
    sign = pairs[references[0]].verdict if references else 1
    statement, good = f"Held-out return {number(test.mean_return)}", False
    if solved and sign >= 0:
        statement, good = solved, True
        if not sign:
            statement += (
                f", but {REFERENCES[references[0]]} returned as much: the task does not distinguish policies"
            )
    else:
        if references:
            statement = _say_beside(references[0], facts, test, pairs)
        if sign > 0 and facts.threshold is not None:
            statement += f", but below the {number(facts.threshold)} that counts as solved"
        elif sign > 0:
            good = not (facts.never_succeeded or facts.constant)
    sentences = [f"{statement}."]
    if TEACHER in pairs:
        sentences.append(f"{_say_beside(TEACHER, facts, test, pairs)}.")
        good = good and pairs[TEACHER].verdict >= 0
    return sentences if good else [*sentences, sentence("advice", facts)]


def _compare_with_references(facts: Facts, test: Evidence) -> dict[str, PairedDifference]:
    """Return the differences from references whose mean is finite, over two episodes or more, the least favourable first."""
    sizes = [abs(r) for each in (test, *facts.references.values()) for r in each.returns if math.isfinite(r)]
    pairs = {
        name: test.paired_difference(theirs, max(sizes, default=0.0))
        for name, theirs in facts.references.items()
    }
    if facts.episodes == "identical":  # then only random actions differ, and their mean is what counts
        pairs = {n: replace(pair, returns=(pair.mean,) * len(pair.returns)) for n, pair in pairs.items()}
    known = [name for name, pair in pairs.items() if len(pair.returns) > 1 and math.isfinite(pair.mean)]
    # of several the reference that is hardest to beat
    known.sort(key=lambda name: (pairs[name].verdict, -facts.references[name].mean_return))
    return {name: pairs[name] for name in known}


def _say_beside(name: str, facts: Facts, test: Evidence, pairs: Mapping[str, PairedDifference]) -> str:
    """Say how the best policy compares with a reference."""
    return sentence("beside", name, test, facts.references[name], pairs[name], facts.episodes)


def _say_solved(facts: Facts, test: Evidence) -> str:
    """Say that the task is solved, and by which criterion; empty if it is not, or if an episode failed."""
    rate = test.success_rate
    if facts.failed:
        return ""
    if facts.threshold is not None and math.inf > test.mean_return >= facts.threshold:
        return f"Solved: the held-out return of {number(test.mean_return)} reaches {number(facts.threshold)}"
    if rate is not None and rate >= ALMOST_ALL:
        return f"Solved: success in {rate:.0%} of the test episodes"
    return ""
