"""The sections of a later prompt, in order, and how they are made to fit.

All requests of a round share them; only the last section, the request itself, differs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from promptpo.core.history import SURE_PROBABILITY
from promptpo.prompts import feedback, limits, scores
from promptpo.prompts.context import PromptContext
from promptpo.prompts.program_summary import change, changes
from promptpo.prompts.run_status import describe_status, references_in_words, seconds_in_words
from promptpo.prompts.shortening import cut_between_words, whole_lines
from promptpo.prompts.step_table import TABLE, cell
from promptpo.prompts.tuning_summary import sensitivity_in_words

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.history import History

LABELS = "# Labels in the episode summaries"

Sections = dict[str, str]
"""Section names, as in `promptpo.prompts.limits`, to texts."""


def build_sections(known: PromptContext, request: str, parents: Sequence[Attempt] = ()) -> Sections:
    """Build the sections of a later prompt.

    Args:
        known: Facts that the prompt may include.
        request: The last section.
        parents: Programs to build on; without any, the best so far comes first.
    """
    history, leader = known.history, known.leader
    shown = list(parents) or [a for a in [leader] if a is not None]
    found: Sections = {"where": f"# Status\n\n{_where(known)}"}
    found["ceiling"] = _ceiling(history)
    if leader is not None:
        found["candidates"] = f"# All candidates\n\n{scores.render_scores(history, leader)}"
    second = history.runner_up() if leader is not None else None
    shown += [top for top in (leader, second) if top is not None and top not in shown]
    for n, attempt in enumerate(shown):
        found[f"program {n}" if n else "program"] = _program(attempt, known, beside=shown[0] if n else None)
        found.setdefault("numbers", _numbers(attempt, known))  # below the first program, which it describes
    if shown:
        found["episodes"] = _episodes(shown[0], history)
        found["steps"] = _steps(shown[0])
    found["others"] = _others(known)
    found["labels"] = f"{LABELS}\n\n{known.legend}" if known.legend else ""
    cut = {name: whole_lines(text, limits.SECTIONS.get(name, len(text))) for name, text in found.items()}
    size = len(request) + sum(len(part) for text in cut.values() for part in text.split("```")[::2])
    left = min(limits.SECTIONS["lasting"], limits.TOTAL - size)
    return {**cut, "lasting": known.tell_lasting(left), "request": request}


def drop_sections_to_fit(
    sections: Sections, bound: int, given_up: Sequence[str] = limits.GIVEN_UP
) -> list[str]:
    """Return the texts of sections, dropping those in `given_up`, in its order, until the rest fits into `bound`."""
    kept = {name: text.strip() for name, text in sections.items() if text.strip()}
    for name in given_up:
        if sum(len(text) + 2 for text in kept.values()) <= bound:
            break
        kept.pop(name, None)
    return list(kept.values())


def code_of(attempt: Attempt) -> str:
    """Return a program as prompts print it."""
    return f"```python\n{attempt.candidate.source.strip()}\n```"


def _where(known: PromptContext) -> str:
    history = known.history
    rewards = scores.reward_range(history)
    steps = (
        f"Rewards per step have ranged from {cell(rewards[0])} to {cell(rewards[-1])} so far."
        if rewards
        else ""
    )
    return " ".join(
        filter(
            None,
            [
                describe_status(known.status),
                references_in_words(history.references),
                "All episodes start with the same observation." if known.one_start else "",
                steps,
            ],
        )
    )


def _ceiling(history: History) -> str:
    """Quote the reasons of the last round's answers that saw no way to improve."""
    reasons = history.ceiling_reasons
    head = f"{len(reasons)} of {history.answers} answers in the last round saw no way to improve:"
    return "\n".join([head, *map('"{}."'.format, dict.fromkeys(reasons))]) if reasons else ""


def _program(attempt: Attempt, known: PromptContext, beside: Attempt | None = None) -> str:
    """Describe a program: its return, the length and ending of its episodes, its time per action if long, and its code.

    A program that differs little from another one shown appears as the difference.
    """
    history = known.history
    evidence = history.evidence(attempt)
    ended = feedback.endings(evidence.episodes, known.horizon)
    about = " ".join(filter(None, [ended, seconds_in_words(attempt)]))
    best = history.best() or attempt
    role, gain = "the best so far", ""
    if attempt is not best:
        role = "another candidate"
        gain = f"; expected gain over {best.id}: {feedback.number(history.return_difference(attempt, best).gain)}"
    likely = history.chances.get(attempt.id, 0.0)
    close = f" ({likely:.0%} likely to be the best{gain})" if likely < SURE_PROBABILITY else ""
    title = f"# {attempt.id}, {role}{close}"
    code = code_of(attempt)
    if beside is not None:
        theirs, ours = (each.candidate.source.strip().splitlines() for each in (beside, attempt))
        lines = list(difflib.unified_diff(theirs, ours, beside.id, attempt.id, lineterm="", n=1))
        differing = "\n".join(lines)
        code = f"```diff\n{differing}\n```" if 2 * len(differing) < len(code) else code
    return f"{title}\n\n{about}\n\n{code}"


def _numbers(leader: Attempt, known: PromptContext) -> str:
    """Describe the results of tuning the leader's numbers."""
    candidate = leader.candidate
    written = known.history.find(candidate.parents[0]) if candidate.tuned and candidate.parents else None
    lines = []
    if written is not None:
        moved = changes(candidate.source, written.candidate.source)
        lines.append(f"This is {written.id} with tuned numbers. Before -> after: {moved}.")
        matters = sensitivity_in_words(candidate.sensitivity)
        lines.append(f"{matters[0].upper()}{matters[1:]}." if matters else "")
    if known.status.number_of_episodes and "PARAMS" not in candidate.source:
        lines.append(
            f"{leader.id} has no PARAMS: steps for tuning go unused unless other programs declare some."
        )
    if leader.id in known.remarks:
        lines.append(f"{known.remarks[leader.id]}.")
    return "\n".join(filter(None, lines))


def _episodes(leader: Attempt, history: History) -> str:
    """Return the leader's worst and best episode, as summarised by the feedback class."""
    shown = leader.diagnosis.episodes
    if not shown:
        return ""
    names = scores.starts(history)
    each = limits.SECTIONS["episodes"] // len(shown) - limits.HEADING_CHARS
    return "\n\n".join(
        [f"# Episodes of {leader.id}", *(feedback.episode_in_words(t, each, names) for t in shown)]
    )


def _steps(leader: Attempt) -> str:
    """Return steps of the leader's worst episode; empty without a feedback class, since the built-in summary shows them."""
    found = leader.diagnosis
    return (
        f"# Steps of the worst training episode of {leader.id}\n\n{found.trace}"
        if found.trace and found.by
        else ""
    )


def _others(known: PromptContext) -> str:
    """Describe other candidates: those of the last round with their problems, earlier ones in a line each, newest first."""
    history, leader = known.history, known.leader
    of_leader = (
        {leader.id, *(leader.candidate.parents if leader.candidate.tuned else ())} if leader else set()
    )
    shown = [a for a in history.attempts if a.id not in of_leader and not a.candidate.duplicate_of]
    shown.sort(key=lambda a: -a.candidate.round)
    lines = [line for attempt in shown for line in _other(attempt, known)]
    return "\n".join(["# What other candidates tried", "", *lines]) if lines else ""


def _other(attempt: Attempt, known: PromptContext) -> Iterator[str]:
    history = known.history
    late = attempt.candidate.round == history.rounds
    tuned = attempt.candidate.tuned and attempt.candidate.parents
    summary = (
        f"{attempt.candidate.parents[0]} with tuned numbers."
        if tuned
        else change(attempt, limits.IDEA if late else limits.EARLIER)
    )
    if attempt.evaluation.outcome != "ok":
        what = cut_between_words(feedback.failure(attempt.evaluation), 2 * limits.IDEA)
        yield f"- {attempt.id}: {what} It tried: {summary}"
        return
    remark = known.remarks.get(attempt.id, "") if late and history.find(f"{attempt.id}t") is None else ""
    yield f"- {attempt.id}: {summary}{remark and f' {remark}.'}"
    worst = attempt.diagnosis.of("worst", "typical")
    summary = worst.text.partition("\n")[0] if late and worst and not attempt.candidate.tuned else ""
    if summary and not summary.startswith(TABLE):
        yield f"  Its worst episode: {cut_between_words(summary, limits.IDEA)}"
