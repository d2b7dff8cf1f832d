"""Figures, table and answers of the page "When is a language model enough?", from the rows of the suite ``proof``.

`python benchmarks/results/proof/study benchmarks/results/proof* --figures docs/images` prints the table and what became of each
hypothesis, and writes the figures; it needs no run directories.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from figures import LEARNER, MODEL, SEARCH, by_task, sufficient_by, what_matters
from hypotheses import against_learning, answers, overview, said
from scores import LLM, SIMULATOR, SuiteScores, read_scores
from promptpo_benchmarks.measuring.tables import markdown
from promptpo_benchmarks.report.figures import Style
from promptpo.errors import PromptPOError

OTHERS = (
    ("best-of-n", "without feedback (best of six)"),
    ("promptpo-paper", "published procedure"),
    ("tune", "program search, no model"),
    ("promptpo-anonymous", "environment without names"),
    ("promptpo-bare", "shapes and bounds only"),
    ("ppo", "PPO"),
    ("trpo", "TRPO"),
    ("sac", "SAC"),
    ("crossq", "CrossQ"),
    ("dqn", "DQN"),
    ("qrdqn", "QR-DQN"),
)
CURVES = (
    (LLM, "language model (promptpo)", MODEL, LLM),
    (SIMULATOR, "with a simulator, ten tasks", Style("#CC79A7", "-", "^"), SIMULATOR),
    (LLM, "the same ten without", Style("#CC79A7", ":", "o"), SIMULATOR),
    ("promptpo-paper", "published procedure", Style("#56B4E9", "-.", "D"), "promptpo-paper"),
    ("tune", "program search, no model", SEARCH, "tune"),
    ("ppo", "PPO", LEARNER, "ppo"),
    ("trpo", "TRPO", Style("#E69F00", (0, (5, 1, 1, 1)), "v"), "trpo"),
)
SIGNS = {1: "better", 0: "", -1: "worse"}


def main(arguments: list[str] | None = None) -> int:
    """Print the table and the answers, write the figures; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python benchmarks/results/proof/study", description=__doc__)
    parser.add_argument(
        "folders",
        nargs="+",
        type=Path,
        help="where results.csv lies; several for a suite that was run in parts",
    )
    parser.add_argument("--suite", default="proof", help="the suite by name, or its file (default: proof)")
    parser.add_argument("--figures", type=Path, help="folder for the three figures")
    asked = parser.parse_args(arguments)
    try:
        scores = read_scores(asked.folders, asked.suite)
    except FileNotFoundError as error:
        parser.exit(2, f"there is no {error.filename}; give folders that --publish wrote.\n")
    except PromptPOError as error:
        parser.exit(2, f"{error}\n")
    print(markdown(*_methods(scores)))
    print(markdown(*_tasks(scores)))
    print(markdown(*_simulators(scores)))
    print(
        markdown(
            ("hypothesis", "measured", "verdict"), [(a.claim, a.found, a.verdict) for a in answers(scores)]
        )
    )
    if asked.figures is not None:
        asked.figures.mkdir(parents=True, exist_ok=True)
        drawn = {
            "enough-tasks": by_task(scores),
            "enough-matters": what_matters(scores, OTHERS),
            "enough-steps": sufficient_by(scores, CURVES),
        }
        for name, picture in drawn.items():
            if picture is not None:
                (asked.figures / f"{name}.png").write_bytes(picture.png)
    return 0


def _methods(scores: SuiteScores) -> tuple[Sequence[str], list[Sequence[str]]]:
    head = ("method", "tasks", "sufficient on", "interquartile mean [95 % over tasks]")
    return head, [(m, str(tasks), str(enough), said(mean)) for m, tasks, enough, mean in overview(scores)]


def _tasks(scores: SuiteScores) -> tuple[Sequence[str], list[Sequence[str]]]:
    head = (
        "task",
        "language model",
        "normalised",
        "best learner",
        "normalised",
        "against it",
        "answers to 0.95",
    )
    against = against_learning(scores)
    rows: list[Sequence[str]] = []
    for task in scores.tasks:
        model, learner = scores.found.get((LLM, task)), scores.learner(task)
        if model is None:
            continue
        calls = min(model.calls)
        rows.append((
            task, f"{model.raw:,.4g}", said(model.spread),
            f"{learner[0]} {learner[1].raw:,.4g}" if learner else "", said(learner[1].spread) if learner else "",
            SIGNS[against[task]] if task in against else "", "" if math.isinf(calls) else f"{calls:g}",
        ))  # fmt: skip
    return head, rows


def _simulators(scores: SuiteScores) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Return the runs with a simulator beside those without and the best learner."""
    head = ("task", "without", "with a simulator", "mean", "best learner", "score", "against it", "runs above it")
    against = against_learning(scores, simulators=True)
    rows: list[Sequence[str]] = []
    for task in scores.tasks:
        model, learner = scores.found.get((SIMULATOR, task)), scores.learner(task)
        if model is None or learner is None:
            continue
        before, (name, theirs) = scores.found[LLM, task], learner
        above = sum(run > theirs.spread.value for run in model.runs)
        rows.append((
            task, f"{before.raw:,.4g}", f"{model.raw:,.4g}", said(model.spread), f"{name} {theirs.raw:,.4g}",
            said(theirs.spread), SIGNS[against[task]] or "undecided", f"{above} of {len(model.runs)}",
        ))  # fmt: skip
    return head, rows


if __name__ == "__main__":
    sys.exit(main())
