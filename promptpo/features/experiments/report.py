"""Results of the model's experiments as a lasting section of its prompts, within a size limit."""

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

TITLE = "# Results of experiments"

METHODS = ("act", "report")

EPISODES = re.compile(r"^EPISODES = ([1-9]\d{0,3})\b", re.MULTILINE)
"""Line with which an experiment declares its number of episodes."""

EPISODE_BREAK = re.compile(r"\n\n(?=Episode \d[\d, ]*:\n)")
"""Boundary between the reports on two episodes."""

FIT = "FIT:"
"""Prefix of report lines that are kept as long as there is room for anything of the report."""


def modules_in(text: str) -> tuple[str, ...]:
    """Return the experiments in an answer, each as a module."""
    return answers.every(text, class_name="Probe")


def as_policy(source: str, episode: int) -> str:
    """Return the module with its experiment under the name that the sandbox expects of policies.

    Args:
        source: The module.
        episode: Number of the episode, from 1; passed to an experiment whose ``__init__`` takes ``episode``.
    """
    if Program.from_source(source).arguments("Probe", "__init__") != ("self", "episode"):
        return f"{source.rstrip()}\n\n\nPolicy = Probe\n"
    made = f"class Policy(Probe):\n    def __init__(self):\n        Probe.__init__(self, {episode})\n"
    return f"{source.rstrip()}\n\n\n{made}"


def episodes_in(source: str, most: int) -> int | None:
    """Return the number of episodes that an experiment declares, at most `most`; None without a declaration."""
    declared = EPISODES.search(source)
    return min(most, int(declared[1])) if declared else None


def refusal(completion: Completion) -> str:
    """Return why an answer contains no experiment, in its own words if it gives a reason."""
    reason = reason_to_decline(completion.text)
    if reason is None:
        return f"the answer {'was cut off' if completion.finish == 'length' else 'had no class Probe in it'}"
    return f"none was wanted: {reason}".removesuffix(": ")


def problem_of(source: str) -> str:
    """Return what an experiment lacks, as far as known before it runs; empty if it may run."""
    if re.search(r"^class Policy\b", source, re.MULTILINE):
        return "it defines a class called Policy, the name under which the experiment itself is played; rename it"
    lacking = Program.from_source(source).lacks("Probe", *METHODS)
    return f"the class Probe has no method {' and no method '.join(lacking)}" if lacking else ""


def report_of(reports: Sequence[str]) -> str:
    """Join an experiment's reports on its episodes into one text, with equal reports merged."""
    episodes: dict[str, list[str]] = {}
    for n, report in enumerate(reports, 1):
        episodes.setdefault(tidy(report), []).append(str(n))
    episodes.pop("", None)
    return _fit_report(
        "\n\n".join(f"Episode {', '.join(n)}:\n{text}" for text, n in episodes.items()), limits.REPORT
    )


def _fit_report(report: str, most: int) -> str:
    """Shorten a report to a number of characters shared by its episodes: room left by short ones goes to long ones.

    A `FIT` line stays under its episode, and equal ones appear once. Episodes without room are named.
    """
    parts = EPISODE_BREAK.split(report)
    fits: set[str] = set()
    for i, part in enumerate(parts):
        lines = [line for line in part.split("\n") if line not in fits]
        fits.update(line for line in lines if line.startswith(FIT))
        parts[i] = "\n".join(lines)
    shown = parts[: max(1, most // limits.HEADING_CHARS)]
    names = ", ".join(part.partition(":")[0].removeprefix("Episode ") for part in parts[len(shown) :])
    last = f"\n\n(No room for episodes {names}.)" if names else ""
    texts, room = dict[int, str](), most - len(last)
    for n, i in enumerate(sorted(range(len(shown)), key=lambda i: len(shown[i]))):
        title, _, text = shown[i].partition("\n")
        text = whole_lines(text, room // (len(shown) - n) - len(title) - 3, kept=FIT)
        texts[i] = f"{title}\n{text or '(as above)' * bool(i)}".rstrip()
        room -= len(texts[i]) + 2
    return "\n\n".join(texts[i] for i in sorted(texts)) + last


def section(experiments: Sequence[Experiment], most: int) -> str:
    """Describe the results of all experiments, newest first, in about that many characters.

    Experiments of the newest round are shown in full as far as there is room; earlier ones share the rest, so that early results, such
    as which action moves what, are not lost to later ones. One whose share is too small to say anything is left out for the others.
    Equal experiments are shown once.

    Args:
        experiments: Oldest first.
        most: Maximum number of characters.
    """
    different = {
        Program.from_source(experiment.source).digest or experiment.id: experiment
        for experiment in experiments
        if experiment.source
    }
    ordered = sorted(different.values(), key=lambda experiment: -experiment.round)
    room, texts, left_out = most - len(TITLE), [], 0
    for n, experiment in enumerate(ordered):
        group = [other for other in ordered[n:] if other.round == experiment.round]
        each = room // (len(group) if experiment.round == ordered[0].round else len(ordered) - n) - 2
        whole = len(_in_words(experiment, most))
        if each < (limits.HEADING_CHARS if n + 1 == len(ordered) else min(limits.SUMMARY, whole)):
            left_out += 1
            continue
        texts.append(_in_words(experiment, each))
        room -= len(texts[-1]) + 2
    last = [f"({count_of(left_out, 'experiment')} left out.)"] if left_out else []
    return "\n\n".join([TITLE, *texts, *last]) if texts else ""


def experiment_line(experiment: Experiment) -> str:
    """Describe an experiment in one line, for lists."""
    if not experiment.source:
        return f"no experiment: {experiment.problem}"
    idea = _idea(experiment)
    came = f"reported {len(experiment.report):,} characters" if experiment.report else "no report"
    repaired = " after a repair" if experiment.repairs and experiment.report else ""
    problem = f"; {experiment.problem}" if experiment.problem else ""
    return f"{experiment.id}: {f'{idea} ' if idea else ''}({_took(experiment)}; {came}{repaired}{problem})"


def _idea(experiment: Experiment, most: int = limits.IDEA) -> str:
    program = Program.from_source(experiment.source)
    text = tidy(program.docstring or next(iter(program.class_docstrings("Probe")), ""))
    return sentences(text, most)


def _took(experiment: Experiment) -> str:
    took = f"{count_of(experiment.episodes, 'episode')}, {count_of(experiment.steps, 'step')}"
    if not experiment.ends:
        return took
    after = " to ".join(f"{n:,}" for n in sorted({min(experiment.ends), max(experiment.ends)}))
    return f"{took}; {len(experiment.ends)} terminated, after {after} steps"


def _in_words(experiment: Experiment, most: int) -> str:
    """Describe an experiment and its report, or why it has none, in that many characters."""
    idea = _idea(experiment, 2 * limits.IDEA)  # it may explain the columns of the report
    head = f"{experiment.id} ({_took(experiment)}){f': {idea}' if idea else ''}"
    text = experiment.report or f"No report: {tidy(experiment.problem)}."
    return f"{head}\n{_fit_report(text, most - len(head))}"
