"""What the model's experiments showed, as a lasting part of its prompts, within a bound."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.program import Program, answers
from promptpo.telling.parts import Part
from promptpo.telling.shortening import SLACK, at_items, between_words
from sandbox.text import clean

if TYPE_CHECKING:
    from promptpo.run.records import Experiment

MOST_REPORT = 3000
"""Characters that an experiment reports of all its episodes together."""

MOST_TOLD = 6000
"""Characters of a prompt that all experiments may take."""

LEAST_EPISODE = 90
"""Characters of an episode's report below which fewer episodes are told, rather than less of each."""

LEAST_SAID = 60
"""Characters that are left of it in any case."""

OTHERS = "(What it reported of other episodes is left out.)"

OFTEN = 3
"""Times in a row from which on a line is told once."""

TITLE = "# What experiments showed"
MOST_IDEA, MOST_PROBLEM, LEAST = 240, 160, 240
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


def section(experiments: Sequence[Experiment], most: int) -> str:
    """All that experiments have shown, oldest first, in at most so many characters.

    Each has its share of the room, and what a short report leaves goes to the others, so that what the first ones showed,
    such as which action moves what, is not lost to later ones. Nothing is told where there is room for hardly more than a
    title.

    Args:
        experiments: Oldest first.
        most: Characters.
    """
    told = [one for one in experiments if one.source] if most >= 2 * LEAST else []
    room = most - len(TITLE) - 40
    left_out = max(0, len(told) - max(1, room // LEAST))
    texts: dict[str, str] = {}
    shown = told[left_out:]
    for n, one in enumerate(sorted(shown, key=lambda one: len(_in_words(one, room)))):
        texts[one.id] = text = _in_words(one, room // (len(shown) - n) - 2)
        room -= len(text) + 2
    first = [f"({left_out} earlier ones are left out.)"] if left_out else []
    return "\n\n".join([TITLE, *first, *(texts[one.id] for one in shown)]) if texts else ""


def one_line(one: Experiment) -> str:
    """An experiment in one line, for lists."""
    if not one.source:
        return f"no experiment: {one.problem}"
    idea = _idea(one)
    came = f"reported {len(one.report):,} characters" if one.report else "no report"
    repaired = " after a repair" if one.repairs and one.report else ""
    problem = f"; {one.problem}" if one.problem else ""
    return f"{one.id}: {f'{idea} ' if idea else ''}({_took(one)}; {came}{repaired}{problem})"


def _idea(one: Experiment) -> str:
    return between_words(" ".join(tidy(Program.parse(one.source).docstring).split()), MOST_IDEA)


def _took(one: Experiment) -> str:
    episodes = f"{one.episodes} episode{'' if one.episodes == 1 else 's'}"
    return f"{episodes}, {one.steps:,} step{'' if one.steps == 1 else 's'}"


def _in_words(one: Experiment, most: int) -> str:
    """An experiment in at most so many characters: what was tried out, and what it reported or why it did not."""
    idea = _idea(one)
    head = f"{one.id} ({_took(one)}){f': {idea}' if idea else ''}"
    if not one.report:
        return between_words(
            f"{head} It gave no report: {between_words(tidy(one.problem), MOST_PROBLEM)}.", most
        )
    room = most - len(head) - 1
    text = one.report if len(one.report) <= room else _of_every_episode(one.report, room)
    return f"{head}\n{text}"


def _of_every_episode(text: str, room: int) -> str:
    """What there is room for of each of several episodes, which tried different things; of two the first as far as it goes.

    What short ones leave goes to the others; where a share says nothing, the last episodes are left out.
    """
    episodes = re.split(r"\n(?=Episode \d+:\n)", text)
    if len(episodes) <= 2:  # noqa: PLR2004 - the same again: one that is whole tells more than the beginnings of two
        first = episodes[0] if len(episodes[0]) <= room else at_items(episodes[0], max(60, room - SLACK))
        return f"{first}\n{OTHERS}" if len(episodes) > 1 and len(first) + len(OTHERS) < room else first
    kept = episodes[: max(1, (room - len(OTHERS)) // LEAST_EPISODE)]
    room -= len(OTHERS) + 1 if len(kept) < len(episodes) else 0
    cut = dict(enumerate(kept))
    for n, i in enumerate(sorted(cut, key=lambda i: len(cut[i]))):
        share = room // (len(kept) - n) - 1
        if len(cut[i]) > share:
            title, _, said = cut[i].partition("\n")
            said = at_items(said, max(LEAST_SAID, share - len(title) - SLACK))
            cut[i] = f"{title}\n{said if len(said) < share else between_words(said, share - len(title) - 1)}"
        room -= len(cut[i]) + 1
    told = "\n".join(cut[i] for i in sorted(cut))
    return f"{told}\n{OTHERS}" if len(kept) < len(episodes) else told


def part(experiments: Sequence[Experiment]) -> Part:
    """The section as a part of a prompt: it is shortened only where there is no room otherwise, and never left out."""
    sizes = (MOST_TOLD, 7 * MOST_TOLD // 8, MOST_TOLD // 4, MOST_TOLD // 8)
    return Part([section(experiments, most) for most in sizes], [69, 78, 84] if experiments else [])
