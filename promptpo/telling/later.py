"""The request of a later round: what is known, within a bound, and what to do with it.

Each part has shorter forms; the least valuable part is shortened first, until the whole fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.telling import experiments, feedback, scores
from promptpo.telling.asked import respects_in_words, strategies_in_words, thoughts_in_words
from promptpo.telling.known import Known
from promptpo.telling.others import others, worst
from promptpo.telling.parts import Part
from promptpo.telling.programs import at_bounds, changes, idea, parameters
from promptpo.telling.shortening import at_items
from promptpo.telling.standing import references_in_words, seconds_in_words
from promptpo.telling.trace import ROWS, of_debug, shorter
from promptpo.telling.tuning import moved_in_words
from promptpo.telling.world import disappointments_in_words

if TYPE_CHECKING:
    from promptpo.run.records import Attempt, Told
    from promptpo.search.history import History
    from promptpo.search.planning import Plan

AIM = 12_000
"""Characters of a prompt, the system's included, that are aimed at."""

LEAST = 6_600
"""Characters that are left to what is not code, however long the rest of the prompt is."""


ENDS = ("worst", "best", "typical")
WHOLE, MOST_EPISODE = 900, 1200
"""The summaries of these episodes are told whole where they have no more characters together; characters of others."""

ONE_START = "All episodes begin with the same observation."

MOST_SHORT = 2
"""Roles of episodes from which on each of them has less room in the shortest form."""

NEAR = 0.05
"""Returns nearer to each other than this share of their size are of episodes that are told alike."""


def parts_of(plan: Plan, known: Known, request: str) -> list[Part]:
    """The parts of a later round's prompt, in their order."""
    history = known.history
    base = plan.parents[0] if plan.parents else None
    head = " ".join(
        filter(
            None,
            [
                known.where.in_words(),
                references_in_words(history.references),
                ONE_START if known.one_start else "",
                known.earned(),
                thoughts_in_words(history),
            ],
        )
    )
    parts = [Part([f"# Where the run is\n\n{head}", ""], [85])]
    parts += [taught_by(known), experiments.part(known.history.experiments, known.where.round)]
    in_detail: list[Attempt] = []
    if base is not None:
        in_detail = [base, *plan.parents[1:]]
        parts += _programs(plan, known, in_detail)
        parts.append(_episodes(plan, base, known))
        parts += _trace(plan, base, known)
    parts += others(plan, known, in_detail)
    if plan.direction in {"fresh", "different"}:
        tried = [strategies_in_words(history), strategies_in_words(history, short=True), ""]
        parts.append(Part(tried, [40, 83]))
    elif base is not None:
        parts.append(Part([respects_in_words(history, base.id), ""], [72]))
    wrong = [disappointments_in_words(history, rows=n) for n in (3, 1)]
    parts.append(Part([*wrong, ""], [36, 71]))
    parts.append(_legend(plan, known))
    parts.append(Part([request]))
    return parts


def taught_by(known: Known) -> Part:
    """What a trained agent does, where the first round follows on policies that were given."""
    return Part([known.history.teacher if known.where.round == 1 else "", ""], [50])


def _programs(plan: Plan, known: Known, in_detail: Sequence[Attempt]) -> list[Part]:
    """The programs that this request builds on; of two that differ in numbers only, one."""
    base = in_detail[0]
    title = f"# {base.id}"
    if base is known.leader:
        title += ", the best so far"
    about = f"{title}\n\n{_result(base, known, asked=_mends(plan))}"
    code = _code(base)
    score = f"{title}\n\nReturn {scores.score(known.history.evidence(base))}."
    parts = [Part([about, score], [82])]
    if plan.direction in {"fresh", "different"}:
        parts.append(Part([f"Its idea: {idea(base, 400)}", f"Its idea: {idea(base, 200)}"], [40]))
    else:
        parts.append(Part([code, f"Its idea: {idea(base, 300)}"], [95]))
    parts.append(_numbers(plan, base, known.history))
    for other in in_detail[1:]:
        text = f"# {other.id}\n\n{_result(other, known)}"
        if Program.parse(other.candidate.source).skeleton == Program.parse(base.candidate.source).skeleton:
            table = parameters(other.candidate.source, base.candidate.source, base.id)
            parts.append(Part([f"{text}\n\nThe same program as {base.id} but for these numbers:\n{table}"]))
        else:
            short = f"{text}\n\nIts idea: {idea(other, 300)}"
            parts.append(Part([f"{text}\n\n{_code(other)}", short], [80]))
            parts.append(Part([worst(other, 500, known), ""], [45]))
    return parts


def _result(attempt: Attempt, known: Known, *, asked: bool = False) -> str:
    """The score of a program that is told in detail, its returns, and how it differs from the best."""
    history, leader = known.history, known.leader
    evidence, names = history.evidence(attempt), scores.starts(history)
    text = [f"Return {scores.score(evidence)}."]
    if leader is not None and leader is not attempt:
        difference = scores.difference(history.against(attempt, leader), leader.id)
        failing = scores.mishaps(evidence, history.evidence(leader), leader.id)
        if scores.bad_starts(evidence, names):  # which say what is low, and where
            failing = "; ".join(part for part in failing.split("; ") if "below its median" not in part)
        text[0] = f"Return {scores.score(evidence)}: {'; '.join(filter(None, [difference, failing]))}."
    before = history.find(_base_of(attempt, history))
    again = scores.on_bad_starts(history, attempt, before) if before is not None else ""
    text += [
        f"{again[0].upper()}{again[1:]}." if again else "",
        feedback.endings(evidence.episodes),
        scores.returns(evidence, names),
        "" if known.one_start or asked else scores.bad_starts(evidence, names),  # the request names them
    ]
    if leader is attempt or leader is None:
        text.append(seconds_in_words(attempt))
    return " ".join(filter(None, text))


def _base_of(attempt: Attempt, history: History) -> str:
    """The program that a candidate, or what it was tuned from, was to improve; empty where there was none."""
    names = (attempt.id, *attempt.candidate.parents) if attempt.candidate.tuned else (attempt.id,)
    return next((history.asked[name].base for name in names if name in history.asked), "")


def _code(attempt: Attempt) -> str:
    return f"```python\n{attempt.candidate.source.strip()}\n```"


def _numbers(plan: Plan, base: Attempt, history: History) -> Part:
    """What tuning changed, against the program that was written, or what came of it; which numbers matter."""
    written = (
        history.find(base.candidate.parents[0]) if base.candidate.tuned and base.candidate.parents else None
    )
    if written is None:
        said = history.tuning.get(base.id, "")
        ends = "" if "at a bound" in said else at_bounds(base.candidate.source)
        said = f"{said}." if said else "\n".join(base.notes)
        return Part(["\n".join(filter(None, [said, f"At a bound: {ends}." if ends else ""])), ""], [81])
    difference = scores.difference(
        history.against(base, written), f"{written.id} with the numbers as written"
    )
    remarks = [note for note in base.notes if " -> " not in note]
    if base.id in history.tuning:
        remarks.append(f"{history.tuning[base.id]}.")
    moved = moved_in_words(base.candidate.sensitivity)
    head = f"Tuning changed its numbers: {difference}."
    if moved:
        head += f" {moved[0].upper()}{moved[1:]}."
    old = changes(base.candidate.source, written.candidate.source)
    ends = at_bounds(base.candidate.source)
    if "at a bound" not in head and old.count(" bound") < ends.count(" ("):
        head += f" At a bound: {ends}."
    told = f"{head}\nBefore -> after: {old}." if old else head
    if plan.direction in {"fresh", "different"}:  # which print no program
        told = head
    return Part(["\n".join([told, *remarks]), told, head], [25, 71])


def _episodes(plan: Plan, base: Attempt, known: Known) -> Part:
    """The training episodes of the base that tell most; where bad starts are to be mended, these stay longest."""
    told = base.diagnosis.episodes
    if not told:
        return Part([at_items(base.feedback, 1500), at_items(base.feedback, 500), ""], [20, 45])
    names = scores.starts(known.history)
    title = f"# Episodes of {base.id}"

    ends = [t for t in told if t.role in ENDS]
    whole = 0 < sum(len(t.text) for t in ends) <= WHOLE

    def texts(roles: Sequence[str], most: int) -> str:
        kept = [t for t in told if t.role in roles or not t.role.isalpha() or (whole and t in ends)]
        kept = (
            [t for t in kept if not _nearly_the_median(t, base)]
            if "worst" not in roles and not whole
            else kept
        )
        limits = [MOST_EPISODE if whole and t in ends else most for t in kept]
        return "\n\n".join(
            [title, *(feedback.episode_in_words(t, n, names) for t, n in zip(kept, limits, strict=True))]
        )

    every = ("worst", "low", "median", "best", "typical")
    few: tuple[str, ...]
    least: tuple[str, ...]
    if _mends(plan):  # a bad start says little without a good one beside it
        few = least = ("worst", "low", "best", "typical")
    elif plan.direction == "improve":  # what limits every episode shows in the usual and in the best one
        few = least = ("median", "best", "typical")
        if _falls_at_times(base):
            few = least = ("worst", "median", "typical")
        if whole:
            least = ENDS
    else:
        few, least = ("worst", "best", "typical"), ("worst", "typical")
    return Part(
        [texts(every, MOST_EPISODE), texts(few, 700), texts(least, 420 if len(least) > MOST_SHORT else 600)],
        [20, 50],
    )


def _nearly_the_median(told: Told, base: Attempt) -> bool:
    """Whether the best episode is so near to the median one that this stands for both."""
    median = base.diagnosis.of("median")
    if told.role != "best" or median is None:
        return False
    return told.return_ - median.return_ <= NEAR * max(abs(told.return_), abs(median.return_))


def _trace(plan: Plan, base: Attempt, known: Known) -> list[Part]:
    """Steps of one episode of the base, and small maps of them where observations are images.

    Around what went wrong in the worst one, or, where the request is about what every episode earns, from the middle of
    the usual one.
    """
    which, table = "the worst" if base.diagnosis.of("worst") else "a typical", base.diagnosis.trace
    if plan.direction == "improve" and not _mends(plan) and base.diagnosis.usual and not _ends_early(base):
        which, table = "the median" if base.diagnosis.of("median") else which, base.diagnosis.usual
    worst = base.diagnosis.of("worst", "typical")
    if not base.diagnosis.by and worst is not None and worst.steps <= ROWS:
        table = ""  # the summary, which no feedback class wrote, shows every step
    parts = []
    worths = [32, 69] if _mends(plan) else [30, 58]
    if table:
        unseen = which == "the worst" and worst is not None and _is_validation(worst, known)
        shown = worst if table == base.diagnosis.trace else base.diagnosis.of("median", "typical")
        given = f" ({shown.given})" if shown is not None and shown.given else ""
        title = f"# From {which} {'' if unseen else 'training '}episode of {base.id}{given}\n\n"
        least = of_debug(table)
        parts.append(Part([title + table, title + shorter(table), title + least, ""], [*worths, 71]))
    if base.diagnosis.maps:
        parts.append(Part([base.diagnosis.maps, ""], [worths[-1] + 1]))
    return parts


def _is_validation(told: Told, known: Known) -> bool:
    """Whether an episode began at a start that only better programs play."""
    return scores.starts(known.history).get(told.seed, "").startswith("v")


def _ends_early(base: Attempt) -> bool:
    """Whether what limits a program is how its worst episode ended rather than how it goes on."""
    worst = base.diagnosis.of("worst", "typical")
    return worst is not None and worst.ending == "terminated"


def _falls_at_times(base: Attempt) -> bool:
    """Whether the worst episode was ended by the environment, and the usual one was not."""
    worst, median = base.diagnosis.of("worst"), base.diagnosis.of("median", "best")
    fell = worst is not None and worst.ending == "terminated"
    return fell and median is not None and median.ending != "terminated"


def _mends(plan: Plan) -> bool:
    """Whether a request is about single bad starts."""
    return plan.respect in {"Robustness", "Success", "Lasting longer"}


def _legend(plan: Plan, known: Known) -> Part:
    """What the labels of the summaries mean, for the classes whose summaries are shown; it stays as long as these."""
    shown: dict[str, list[str]] = {}
    for attempt in (*plan.parents, *known.history.of_round(known.history.rounds)):
        if attempt.diagnosis.episodes and attempt.id not in shown.get(attempt.diagnosis.by, []):
            shown.setdefault(attempt.diagnosis.by, []).append(attempt.id)
    texts = []
    for by, ids in shown.items():
        legend = known.legends.get(by, "")
        if not legend:
            continue
        of = f" of {', '.join(ids)}" if len(shown) > 1 else ""
        since = (
            f" (by the feedback class in force since round {known.since[by]})" if by in known.since else ""
        )
        texts.append(f"In the summaries{of}{since}: {legend}" if of or since else legend)
    coming = next((by for by in list(known.legends)[::-1] if by in known.since and by not in shown), None)
    if coming is not None:
        texts.append(
            f"Since round {known.since[coming]} another feedback class is in force; it will write the summaries of "
            "this round's programs."
        )
    if not texts:
        return Part([""])
    return Part(["\n\n".join(["# What the labels in the summaries of episodes mean", *texts])])
