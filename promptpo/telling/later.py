"""The request of a later round: what is known, within a bound, and what to do with it.

Each part has shorter forms; the least valuable part is shortened first, until the whole fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.telling import feedback, scores
from promptpo.telling.programs import idea, parameters
from promptpo.telling.replies import shortened
from promptpo.telling.standing import Where, references_in_words, seconds_in_words
from promptpo.telling.trace import shorter

if TYPE_CHECKING:
    from promptpo.run.records import Attempt
    from promptpo.search.history import History
    from promptpo.search.planning import Plan

AIM = 12_000
"""Characters of a prompt, the system's included, that are aimed at."""

LEAST = 3_600
"""Characters that are left to what is not code, however long the rest of the prompt is."""

NEEDED = 70
"""Worth from which a part is shortened only where the model could not read the prompt otherwise."""


@dataclass(slots=True)
class Part:
    """One part of a prompt.

    Attributes:
        forms: Its texts, the fullest first.
        worths: What it takes to go from each form to the next.
    """

    forms: list[str]
    worths: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The form in force."""
        return self.forms[0]

    def shorten(self) -> None:
        """Go on to the next form."""
        self.forms, self.worths = self.forms[1:], self.worths[1:]


def fitted(parts: Sequence[Part], aim: int, bound: int) -> list[str]:
    """The parts' texts, shortened to fit into `bound`, and into `aim` as far as they are not needed."""
    while True:
        size = sum(len(part.text) + 2 for part in parts if part.text)
        open_ = [part for part in parts if part.worths]
        if not open_ or size <= min(aim, bound):
            break
        least = min(open_, key=lambda part: part.worths[0])
        if least.worths[0] >= NEEDED and size <= bound:
            break
        least.shorten()
    return [part.text.strip() for part in parts if part.text.strip()]


@dataclass(frozen=True, slots=True)
class Known:
    """What a request may tell.

    Attributes:
        history: All attempts and their evidence.
        where: What is left.
        legends: Journal key of the call that wrote a feedback class to what its labels mean.
    """

    history: History
    where: Where
    legends: Mapping[str, str] = field(default_factory=dict)


def parts_of(plan: Plan, known: Known, request: str) -> list[Part]:
    """The parts of a later round's prompt, in their order."""
    history = known.history
    base = plan.parents[0] if plan.parents else None
    head = " ".join(filter(None, [known.where.in_words(), references_in_words(history.references)]))
    parts = [Part([f"# Where the run is\n\n{head}", ""], [85])]
    parts.append(taught_by(known))
    in_detail: list[Attempt] = []
    if base is not None:
        in_detail = [base, *plan.parents[1:]]
        parts += _programs(plan, known, in_detail)
        parts.append(_episodes(base, known))
        if base.diagnosis.trace:
            which = "the worst" if base.diagnosis.of("worst") else "a typical"
            title = f"# From {which} training episode of {base.id}\n\n"
            table = base.diagnosis.trace
            parts.append(Part([title + table, title + shorter(table), ""], [30, 66]))
    parts += _others(plan, known, in_detail)
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
    if base.id == _leader(known):
        title += ", the best so far"
    about = f"{title}\n\n{_result(base, known)}"
    code = _code(base)
    score = f"{title}\n\nReturn {scores.score(known.history.evidence(base))}."
    parts = [Part([about, score], [82])]
    if plan.direction == "fresh":
        parts.append(Part([f"Its idea: {idea(base, 300)}"]))
    else:
        worths = [35] if plan.direction == "different" else [95]
        parts.append(Part([code, f"Its idea: {idea(base, 300)}"], worths))
        parts.append(_numbers(base, known.history))
    for other in in_detail[1:]:
        text = f"# {other.id}\n\n{_result(other, known)}"
        if Program.parse(other.candidate.source).skeleton == Program.parse(base.candidate.source).skeleton:
            table = parameters(other.candidate.source, base.candidate.source, base.id)
            parts.append(Part([f"{text}\n\nThe same program as {base.id} but for these numbers:\n{table}"]))
        else:
            short = f"{text}\n\nIts idea: {idea(other, 300)}"
            parts.append(Part([f"{text}\n\n{_code(other)}", short], [80]))
            worst = _worst(other, 500, known)
            parts.append(Part([worst, ""], [45]))
    return parts


def _result(attempt: Attempt, known: Known) -> str:
    """The score of a program that is told in detail, its returns, and how it differs from the best."""
    history = known.history
    evidence, names = history.evidence(attempt), scores.starts(history)
    leader = history.find(_leader(known))
    text = [f"Return {scores.score(evidence)}."]
    if leader is not None and leader is not attempt:
        difference = scores.difference(history.against(attempt, leader), leader.id)
        text[0] = f"Return {scores.score(evidence)}: {difference}."
    text += [
        feedback.endings(evidence.episodes),
        scores.returns(evidence, names),
        scores.bad_starts(evidence, names),
    ]
    if leader is attempt or leader is None:
        text.append(seconds_in_words(attempt))
    return " ".join(filter(None, text))


def _code(attempt: Attempt) -> str:
    return f"```python\n{attempt.candidate.source.strip()}\n```"


def _numbers(base: Attempt, history: History) -> Part:
    """What tuning changed, against the program that was written; and what the tuner remarked."""
    written = (
        history.find(base.candidate.parents[0]) if base.candidate.tuned and base.candidate.parents else None
    )
    if written is None:
        return Part(["\n".join(base.notes), ""], [25])
    table = parameters(base.candidate.source, written.candidate.source, "was")
    difference = scores.difference(history.against(base, written), f"{written.id}, as it was written")
    remarks = [note for note in base.notes if " -> " not in note]
    head = f"Tuning changed its numbers: {difference}."
    full = "\n".join(filter(None, [head, table, *remarks]))
    bound = [line for line in table.splitlines() if "bound" in line]
    return Part([full, "\n".join([head, *bound]), head], [25, 30])


def _episodes(base: Attempt, known: Known) -> Part:
    told = base.diagnosis.episodes
    if not told:
        return Part([shortened(base.feedback, 1500), shortened(base.feedback, 500), ""], [20, 45])
    names = scores.starts(known.history)
    title = f"# Training episodes of {base.id}"

    def texts(roles: Sequence[str], most: int) -> str:
        kept = [t for t in told if t.role in roles or not t.role.isalpha()]
        return "\n\n".join([title, *(feedback.episode_in_words(t, most, names) for t in kept)])

    every = ("worst", "low", "median", "best", "typical")
    few = ("worst", "best", "typical")
    return Part([texts(every, 1200), texts(few, 700), texts(("worst", "typical"), 400)], [20, 45])


def _worst(attempt: Attempt, most: int, known: Known) -> str:
    told = attempt.diagnosis.of("worst", "typical")
    if told is None:
        return ""
    return feedback.episode_in_words(told, most, scores.starts(known.history))


def _others(plan: Plan, known: Known, in_detail: Sequence[Attempt]) -> list[Part]:
    """The candidates that are not told in detail: those of the last round with a diagnosis, others in a line."""
    history = known.history
    shown = {attempt.id for attempt in in_detail}
    last = [a for a in history.of_round(history.rounds) if a.id not in shown]
    last.sort(key=history.runs)  # failures first; else as they came
    last = [a for a in last if not _told_by_parent(a, known)]
    earlier = [
        a for a in plan.lines if a.id not in shown and a not in last and a.candidate.round < history.rounds
    ]
    parts = []
    if last:
        forms = [
            "\n".join(
                ["# The other candidates of the last round", "", *(_entry(a, known, most) for a in last)]
            )
            for most in (600, 350, 200, 0)
        ]
        parts.append(Part(forms, [15, 40, 75]))
    if earlier:
        every = [_line(a, known, 120) for a in earlier]
        few = [_line(a, known, 80) for a in earlier[-4:]]
        title = (
            f"# Earlier candidates{', clearly worse where no difference is told' if _leader(known) else ''}"
        )
        parts.append(Part(["\n".join([title, "", *every]), "\n".join([title, "", *few]), ""], [10, 65]))
    return parts


def _told_by_parent(attempt: Attempt, known: Known) -> bool:
    """Whether a program as it was written is told by what tuning made of it."""
    leader = known.history.find(_leader(known))
    return leader is not None and bool(leader.candidate.tuned) and attempt.id in leader.candidate.parents


def _entry(attempt: Attempt, known: Known, most: int) -> str:
    """A candidate of the last round: its score, its idea, and its worst episode."""
    history = known.history
    same = scores.alike(history, attempt)
    if same:
        return f"- {same}."
    evaluation = attempt.evaluation
    if evaluation.outcome != "ok":
        text = f"- {attempt.id}: {feedback.failure(attempt.evaluation)}"
        tried = idea(attempt, 160)
        return text + (f" What it tries: {tried}" if tried else "")
    text = f"- {attempt.id}: {_compared(attempt, known)}. {_origin(attempt)}"
    told = attempt.diagnosis.of("worst", "typical")
    if told is not None and most:
        text += f"\n  {feedback.episode_in_words(told, most, scores.starts(history))}".replace(
            "\n", "\n  "
        ).rstrip()
    return text.replace("\n    ", "\n  ")


def _compared(attempt: Attempt, known: Known) -> str:
    history = known.history
    text = scores.score(history.evidence(attempt))
    leader = history.find(_leader(known))
    if leader is None or leader is attempt:
        return text
    return f"{text}, {_difference(attempt, leader, history)}"


def _difference(attempt: Attempt, leader: Attempt, history: History) -> str:
    """The paired difference; the number of shared episodes only where it is not that of the candidate's."""
    found = history.against(attempt, leader)
    text = scores.difference(found, leader.id)
    n = len(found.returns)
    if n == len(history.evidence(attempt).episodes):
        text = text.replace(f" over {n} shared episodes", "").replace(f" over {n} shared episode", "")
    return text


def _origin(attempt: Attempt) -> str:
    """What a program is: tuned from another, or its idea."""
    if attempt.candidate.tuned and attempt.candidate.parents:
        return f"{attempt.candidate.parents[0]} with tuned numbers."
    return idea(attempt, 160)


def _line(attempt: Attempt, known: Known, most: int) -> str:
    same = scores.alike(known.history, attempt)
    if same:
        return f"- {same}."
    if attempt.evaluation.outcome != "ok":
        return f"- {attempt.id}: {shortened(feedback.failure(attempt.evaluation), 160)}"
    history, leader = known.history, known.history.find(_leader(known))
    score = scores.score(history.evidence(attempt))
    if leader is not None and leader is not attempt and history.against(attempt, leader).verdict >= 0:
        score = f"{score}, {_difference(attempt, leader, history)}"
    return f"- {attempt.id}: {score}. {shortened(_origin(attempt), most)}"


def _legend(plan: Plan, known: Known) -> Part:
    """What the labels of the summaries mean, for the classes whose summaries are shown."""
    used = {a.diagnosis.by: a.id for a in (*plan.parents, *known.history.of_round(known.history.rounds))}
    texts = [known.legends[by] for by in known.legends if by in used and known.legends[by]]
    if not texts:
        return Part([""])
    title = "# What the labels in the summaries of episodes mean"
    return Part(["\n\n".join([title, *texts]), ""], [84])


def _leader(known: Known) -> str:
    best = known.history.best()
    return best.id if best else ""
