"""Results of the model's experiments, as a lasting part of its prompts, within a bound."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.program import Program, answers
from promptpo.prompts import limits
from promptpo.prompts.replies import reason_to_decline
from promptpo.prompts.shortening import count_of, sentences, tidy, whole_lines

if TYPE_CHECKING:
    from promptpo.features.experiments.records import Experiment
    from promptpo.llm.base import Completion

TITLE = "# What experiments showed"

METHODS = ("act", "report")

EPISODES = re.compile(r"^EPISODES = ([1-9]\d{0,3})\b", re.MULTILINE)
"""The line by which an experiment says how many episodes it plays."""

EPISODE_BREAK = re.compile(r"\n\n(?=Episode \d[\d, ]*:\n)")
"""Where the report on another episode begins."""

FIT = "FIT:"
"""Lines of a report that begin so are told as long as there is room for anything of it."""


def modules_in(text: str) -> tuple[str, ...]:
    """The experiments that an answer brings, each as a module."""
    return answers.every(text, class_name="Probe")


def as_policy(source: str, episode: int) -> str:
    """The module with its experiment under the name by which the sandbox looks for what acts.

    Args:
        source: The module.
        episode: Which one it plays, counted from 1; told to an experiment whose ``__init__`` asks for ``episode``.
    """
    if Program.from_source(source).arguments("Probe", "__init__") != ("self", "episode"):
        return f"{source.rstrip()}\n\n\nPolicy = Probe\n"
    made = f"class Policy(Probe):\n    def __init__(self):\n        Probe.__init__(self, {episode})\n"
    return f"{source.rstrip()}\n\n\n{made}"


def episodes_in(source: str, most: int) -> int | None:
    """How many episodes an experiment says it plays, at most `most`; None where it says nothing."""
    said = EPISODES.search(source)
    return min(most, int(said[1])) if said else None


def refusal(completion: Completion) -> str:
    """Why an answer brings no experiment, in its own words where it gives a reason."""
    said = reason_to_decline(completion.text)
    if said is None:
        return f"the answer {'was cut off' if completion.finish == 'length' else 'had no class Probe in it'}"
    return f"none was wanted: {said}".removesuffix(": ")


def problem_of(source: str) -> str:
    """Say what an experiment lacks, as far as is known before it is run; empty if it may be run."""
    if re.search(r"^class Policy\b", source, re.MULTILINE):
        return "a class called Policy is in it, which is the name that the experiment itself is played by; call it something else"
    lacking = Program.from_source(source).lacks("Probe", *METHODS)
    return f"the class Probe has no method {' and no method '.join(lacking)}" if lacking else ""


def report_of(reports: Sequence[str]) -> str:
    """Join an experiment's reports on its episodes into one text, equal ones once."""
    said: dict[str, list[str]] = {}
    for n, report in enumerate(reports, 1):
        said.setdefault(tidy(report), []).append(str(n))
    said.pop("", None)
    return _fit_report(
        "\n\n".join(f"Episode {', '.join(n)}:\n{text}" for text, n in said.items()), limits.REPORT
    )


def _fit_report(report: str, most: int) -> str:
    """A report of so many characters at most, which its episodes share: what short ones leave, long ones have.

    A `FIT` line stays under its episode, and the same one is told once. Episodes for which there is no room are named.
    """
    parts = EPISODE_BREAK.split(report)
    fits: set[str] = set()
    for i, part in enumerate(parts):
        lines = [line for line in part.split("\n") if line not in fits]
        fits.update(line for line in lines if line.startswith(FIT))
        parts[i] = "\n".join(lines)
    shown = parts[: max(1, most // limits.HEADING_CHARS)]
    names = ", ".join(part.partition(":")[0].removeprefix("Episode ") for part in parts[len(shown) :])
    last = f"\n\n(No room for {names}.)" if names else ""
    told, room = dict[int, str](), most - len(last)
    for n, i in enumerate(sorted(range(len(shown)), key=lambda i: len(shown[i]))):
        title, _, text = shown[i].partition("\n")
        text = whole_lines(text, room // (len(shown) - n) - len(title) - 3, kept=FIT)
        told[i] = f"{title}\n{text or '(as above)' * bool(i)}".rstrip()
        room -= len(told[i]) + 2
    return "\n\n".join(told[i] for i in sorted(told)) + last


def section(experiments: Sequence[Experiment], most: int) -> str:
    """All that experiments have shown, the newest first, in about so many characters at most.

    Those of the newest round are told whole as far as there is room; earlier ones share what is left, so that what the
    first ones showed, such as which action moves what, is not lost to later ones. The same experiment is told once.

    Args:
        experiments: Oldest first.
        most: Characters.
    """
    different = {
        Program.from_source(experiment.source).digest or experiment.id: experiment
        for experiment in experiments
        if experiment.source
    }
    told = sorted(different.values(), key=lambda experiment: -experiment.round)
    room, texts, left_out = most - len(TITLE), [], 0
    for n, experiment in enumerate(told):
        group = [other for other in told[n:] if other.round == experiment.round]
        each = room // (len(group) if experiment.round == told[0].round else len(told) - n) - 2
        if each < limits.HEADING_CHARS:
            left_out += 1
            continue
        texts.append(_in_words(experiment, each))
        room -= len(texts[-1]) + 2
    last = [f"({left_out} earlier experiments are left out.)"] if left_out else []
    return "\n\n".join([TITLE, *texts, *last]) if texts else ""


def experiment_line(experiment: Experiment) -> str:
    """An experiment in one line, for lists."""
    if not experiment.source:
        return f"no experiment: {experiment.problem}"
    idea = _idea(experiment)
    came = f"reported {len(experiment.report):,} characters" if experiment.report else "no report"
    repaired = " after a repair" if experiment.repairs and experiment.report else ""
    problem = f"; {experiment.problem}" if experiment.problem else ""
    return f"{experiment.id}: {f'{idea} ' if idea else ''}({_took(experiment)}; {came}{repaired}{problem})"


def _idea(experiment: Experiment, most: int = limits.IDEA) -> str:
    program = Program.from_source(experiment.source)
    said = tidy(program.docstring or next(iter(program.class_docstrings("Probe")), ""))
    return sentences(said, most)


def _took(experiment: Experiment) -> str:
    took = f"{count_of(experiment.episodes, 'episode')}, {count_of(experiment.steps, 'step')}"
    if not experiment.ends:
        return took
    after = " to ".join(f"{n:,}" for n in sorted({min(experiment.ends), max(experiment.ends)}))
    return f"{took}; {len(experiment.ends)} ended by termination, after {after} steps"


def _in_words(experiment: Experiment, most: int) -> str:
    """An experiment: what was tried out, and in so many characters what it reported or why it did not."""
    idea = _idea(experiment, 2 * limits.IDEA)  # it may say what columns of the report mean
    head = f"{experiment.id} ({_took(experiment)}){f': {idea}' if idea else ''}"
    said = experiment.report or f"It gave no report: {tidy(experiment.problem)}."
    return f"{head}\n{_fit_report(said, most - len(head))}"
