"""What the model's experiments showed, as a lasting part of its prompts, within a bound."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.program import Program, answers
from promptpo.program.deeds import deeds
from promptpo.telling.parts import Part
from promptpo.telling.rows import of_every_episode
from promptpo.telling.shortening import between_words, first_and_last
from sandbox.text import clean

if TYPE_CHECKING:
    from promptpo.run.records import Experiment

MOST_REPORT = 3000
"""Characters that an experiment reports of all its episodes together."""

MOST_TOLD, SHORTER = 9000, (4700, 3200, 1500, 750)
"""Characters of a prompt that all experiments may take, those of a first request whole, and where room is short."""

OFTEN = 3
"""Times in a row from which on a line is told once."""

STALE, FRESH = 1500, 2
"""Characters for each experiment that is older than so many rounds, once room is short."""

TITLE = "# What experiments showed"
MOST_IDEA, MOST_PROBLEM, LEAST = 480, 160, 240
"""Characters of what an experiment is about, of what went wrong with it, and of its report that are told in any case."""

NONE = re.compile(r"^\W*NONE\b\W*(.*)$", re.MULTILINE)

METHODS = ("act", "report")


def modules_in(text: str) -> tuple[str, ...]:
    """The experiments that an answer brings, each as a module."""
    return answers.every(text, class_name="Probe", method="act")


def as_policy(source: str, episode: int) -> str:
    """The module with its experiment under the name by which the sandbox looks for what acts.

    Args:
        source: The module.
        episode: Which one it plays, counted from 1; told to an experiment whose ``__init__`` asks for ``episode``.
    """
    if not asks_for_episode(source):
        return f"{source.rstrip()}\n\n\nPolicy = Probe\n"
    made = f"class Policy(Probe):\n    def __init__(self):\n        Probe.__init__(self, {episode})\n"
    return f"{source.rstrip()}\n\n\n{made}"


def target_of(source: str) -> str:
    """What is called in such a module for the report."""
    return "Policy.report" if asks_for_episode(source) else "Probe.report"


def asks_for_episode(source: str) -> bool:
    """Whether an experiment is told which of its episodes it plays, and so may try out something else in each."""
    return Program.parse(source).arguments("Probe", "__init__") == ("self", "episode")


def refusal(text: str) -> str:
    """Why an answer brings no experiment, in its own words where it gives a reason."""
    said = NONE.search(text)
    if said is None:
        return "the answer had no class Probe in it"
    reason = tidy(said[1]).rstrip(".")
    return f"none was wanted{f': {between_words(reason, MOST_PROBLEM)}' if reason else ''}"


def problem_of(source: str) -> str:
    """What an experiment lacks, as far as that is known before it is run; nothing where it may be run."""
    if re.search(r"^class Policy\b", source, re.MULTILINE):
        return "a class called Policy is in it, which is the name that the experiment itself is played by; call it something else"
    lacking = Program.parse(source).lacks("Probe", *METHODS)
    return f"the class Probe has no method {' and no method '.join(lacking)}" if lacking else ""


def tidy(text: str) -> str:
    """Text that stays text wherever a prompt quotes it: no control characters, no fences, no headings, no gaps.

    Where a line begins like a heading, as those of a map do, all lines are set off. A line that is said several times in a
    row is told once, with how often.
    """
    lines = [line.rstrip() for line in clean(text).replace("```", "'''").replace("~~~", "---").split("\n")]
    if any(line.lstrip().startswith("#") for line in lines):
        lines = [f"| {line}" if line else line for line in lines]
    told: list[str] = []
    for line, same in itertools.groupby(lines):
        times = len(list(same))
        told += [f"{line} (so {times} times)"] if times >= OFTEN and line else [line] * times
    return re.sub(r"\n{3,}", "\n\n", "\n".join(told)).strip()


def report_of(reports: Sequence[str]) -> str:
    """What an experiment reported of each of its episodes, as one text."""
    texts = [tidy(report) for report in reports]
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"Episode {n}:\n{text}" for n, text in enumerate(texts, 1) if text)


def section(experiments: Sequence[Experiment], most: int, *, before: int = 0, code: int = 0) -> str:
    """All that experiments have shown, the newest first, in at most so many characters.

    Those of the newest round are told whole as far as there is room, with what they did; earlier ones share what is left,
    so that what the first ones showed, such as which action moves what, is not lost to later ones. Nothing is told where
    there is room for hardly more than a title.

    Args:
        experiments: Oldest first.
        most: Characters.
        before: Of those of earlier rounds than this one a few rows are told.
        code: Of those of earlier rounds than this one no code is shown.
    """
    told = [one for one in experiments if one.source] if most >= 2 * LEAST else []
    room = most - len(TITLE) - 48
    left_out = max(0, len(told) - max(1, room // LEAST))
    told = told[left_out:]
    newest = max((one.round for one in told), default=0)
    stale = [one for one in told if one.round < before]
    fresh = [one for one in told if one.round == newest and one not in stale]
    others = [one for one in told if one not in stale and one not in fresh]
    texts: dict[str, str] = {}
    for group, each, kept in ((stale, STALE, fresh + others), (fresh, room, others), (others, room, [])):
        share = each if group is not stale or not kept else min(each, room // (2 * len(group) or 1))
        mine = min(room - LEAST * len(kept), share * len(group))
        new = _shared(group, mine, code=group is fresh and newest >= code)
        room -= sum(len(text) + 2 for text in new.values())
        texts |= new
    last = [f"({left_out} earlier ones are left out.)"] if left_out else []
    shown = sorted(told, key=lambda one: -one.round)
    return "\n\n".join([TITLE, *(texts[one.id] for one in shown), *last]) if texts else ""


def _shared(group: Sequence[Experiment], room: int, *, code: bool) -> dict[str, str]:
    """Some experiments by id, each with its share of the room; what a short report leaves goes to the others."""
    texts: dict[str, str] = {}
    for n, one in enumerate(sorted(group, key=lambda one: len(_in_words(one, room)))):
        texts[one.id] = text = _in_words(one, room // (len(group) - n) - 2, code=code)
        room -= len(text) + 2
    return texts


def one_line(one: Experiment) -> str:
    """An experiment in one line, for lists."""
    if not one.source:
        return f"no experiment: {one.problem}"
    idea = _idea(one)
    came = f"reported {len(one.report):,} characters" if one.report else "no report"
    repaired = " after a repair" if one.repairs and one.report else ""
    problem = f"; {one.problem}" if one.problem else ""
    return f"{one.id}: {f'{idea} ' if idea else ''}({_took(one)}; {came}{repaired}{problem})"


def _idea(one: Experiment, most: int = 240) -> str:
    program = Program.parse(one.source)
    said = tidy(program.docstring or next(iter(program.class_docstrings("Probe")), ""))
    return first_and_last(said, most)


def _took(one: Experiment) -> str:
    episodes = f"{one.episodes} episode{'' if one.episodes == 1 else 's'}"
    took = f"{episodes}, {one.steps:,} step{'' if one.steps == 1 else 's'}"
    if not one.ends:
        return took
    first, last = min(one.ends), max(one.ends)
    after = f"{first:,}" if first == last else f"{first:,} to {last:,}"
    return f"{took}; {len(one.ends)} ended by termination, after {after} steps"


def _in_words(one: Experiment, most: int, *, code: bool = False) -> str:
    """An experiment in at most so many characters: what was tried out, and what it reported or why it did not.

    Args:
        one: The experiment.
        most: Characters.
        code: Show how it acted, where its report leaves room for that.
    """
    idea = _idea(one, min(MOST_IDEA, most // 3))
    head = f"{one.id} ({_took(one)}){f': {idea}' if idea else ''}"
    if not one.report:
        return between_words(
            f"{head} It gave no report: {between_words(tidy(one.problem), MOST_PROBLEM)}.", most
        )
    room = most - len(head) - 1
    did = deeds(one.source) if code else ""
    acted = f"\n```python\n{did}\n```" if did else ""
    if len(one.report) + len(acted) <= room:
        return f"{head}{acted}\n{one.report}"
    text = one.report if len(one.report) <= room else of_every_episode(one.report, room)
    return f"{head}\n{text}"


def part(experiments: Sequence[Experiment], round_: int) -> Part:
    """The section as a part of a prompt: it is shortened only where there is no room otherwise, and never left out.

    Args:
        experiments: Oldest first.
        round_: Of the request: what is older than two rounds gives way first.
    """
    old, last = round_ - FRESH, round_ - 1
    forms = [section(experiments, MOST_TOLD)]
    forms += [section(experiments, most, before=old, code=last) for most in (MOST_TOLD, *SHORTER)]
    return Part(forms, [48, 73, 76, 78, 84] if experiments else [])
