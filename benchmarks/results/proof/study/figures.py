"""The three figures of the page "When is a language model enough?"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scores import LLM, SuiteScores
from promptpo_benchmarks.report.figures import Drawing, Style, drawing, render_figure
from promptpo_benchmarks.statistics.across_tasks import chance_of_improvement, common_tasks
from promptpo_benchmarks.statistics.rows import SUFFICIENT_SCORE

MODEL, LEARNER, SEARCH = Style("#0072B2", "-", "o"), Style("#D55E00", "--", "s"), Style("#7f7f7f", ":", "^")
LEFT, RIGHT = -0.25, 1.35
"""Range of the drawn normalised scores; scores beyond it are drawn at the edge."""


def by_task(scores: SuiteScores) -> Drawing:
    """Normalised score on every task: language model, best learner, program search."""
    groups = scores.groups
    with drawing() as plt:
        figure, panel = plt.subplots(figsize=(7.2, 0.235 * len(scores.tasks) + 1.3))
        heights, height = {}, 0.0
        for name, tasks in groups.items():
            panel.text(LEFT, height, name, fontsize=8, fontweight="bold", va="center")
            height -= 1
            for task in tasks:
                heights[task] = height
                height -= 1
        for task, y in heights.items():
            panel.axhline(y, color="#eeeeee", linewidth=0.8, zorder=0)
            learner = scores.learner(task)
            entries = [
                (scores.found.get(("tune", task)), SEARCH, 0.0),
                (learner[1] if learner else None, LEARNER, -0.16),
                (scores.found.get((LLM, task)), MODEL, 0.16),
            ]
            for entry, style, shift in entries:
                if entry is None:
                    continue
                ends = np.clip([entry.spread.low, entry.spread.high], LEFT, RIGHT)
                panel.plot(ends, [y + shift] * 2, color=style.colour, linewidth=1.2, alpha=0.6)
                panel.plot(
                    np.clip(entry.spread.value, LEFT, RIGHT), y + shift, style.marker, color=style.colour, markersize=4.5
                )  # fmt: skip
        panel.axvline(SUFFICIENT_SCORE, color="#009E73", linewidth=1, linestyle=":")
        panel.set_yticks(list(heights.values()), list(heights))
        panel.tick_params(axis="y", length=0, labelsize=8)
        panel.set_xlim(LEFT - 0.03, RIGHT + 0.03)
        panel.set_ylim(height + 0.4, 0.8)
        panel.set_xlabel("normalised held-out score (0: random actions, 1: reference; dotted: sufficient)")
        names = [
            (MODEL, "language model (promptpo)"),
            (LEARNER, "best learner (of seven)"),
            (SEARCH, "program search, no model"),
        ]
        handles = [
            plt.Line2D([], [], color=s.colour, marker=s.marker, markersize=4.5, label=name)
            for s, name in names
        ]
        figure.legend(
            handles=handles, loc="lower center", ncols=3, bbox_to_anchor=(0.55, 0.985), frameon=False
        )
        figure.tight_layout()
        return render_figure(figure)


def what_matters(scores: SuiteScores, others: Sequence[tuple[str, str]]) -> Drawing | None:
    """How probable it is that the default recipe beats others on a task; None where nothing can be compared.

    Args:
        scores: All scores.
        others: (method, its name in the figure), from above to below.
    """
    one = scores.runs_of(LLM)
    known = [(m, name) for m, name in others if common_tasks(one, scores.runs_of(m))]
    if not known:
        return None
    with drawing() as plt:
        figure, panel = plt.subplots(figsize=(6.4, 0.42 * len(known) + 0.9))
        for n, (method, name) in enumerate(reversed(known)):
            theirs = scores.runs_of(method)
            chance = chance_of_improvement(one, theirs)
            panel.plot([chance.low, chance.high], [n, n], color=MODEL.colour, linewidth=1.6, alpha=0.6)
            panel.plot(chance.value, n, MODEL.marker, color=MODEL.colour, markersize=6)
            panel.text(1.03, n, f"{len(common_tasks(one, theirs))} tasks", va="center", fontsize=8)
            panel.text(-0.03, n, name, va="center", ha="right", fontsize=9)
        panel.axvline(0.5, color="#7f7f7f", linewidth=1, linestyle=":")
        panel.set_xlim(0, 1)
        panel.set_ylim(-0.6, len(known) - 0.4)
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        panel.set_xlabel("probability that promptpo does better on a task (95 % over tasks)")
        return render_figure(figure)


def sufficient_by(scores: SuiteScores, methods: Sequence[tuple[str, str, Style, str]]) -> Drawing:
    """Share of tasks with a sufficient policy, by the environment steps that it took.

    Args:
        scores: All scores.
        methods: (method, its name in the figure, its style, the method whose tasks count).
    """
    with drawing() as plt:
        figure, panel = plt.subplots(figsize=(6.4, 3.2))
        most = float(scores.suite.steps or 1)
        for method, name, style, other in methods:
            found = [scores.found[method, t] for t in scores.tasks if {(method, t), (other, t)} <= {*scores.found}]
            if not found:
                continue
            reached = sorted((step, 1 / len(one.steps)) for one in found for step in one.steps)
            x, y = [0.0], [0.0]
            for step, weight in reached:
                if step <= most:
                    x.append(max(float(step), 100.0))
                    y.append(y[-1] + weight)
            x.append(most)
            y.append(y[-1])
            shares = np.array(y) / len(found)
            panel.plot(
                x, shares, drawstyle="steps-post", color=style.colour, linestyle=style.line, linewidth=1.6, label=name
            )  # fmt: skip
        panel.set_xscale("log")
        panel.set_xlim(100, most)
        panel.set_ylim(0, 1)
        panel.set_xlabel("environment steps until a policy was sufficient on validation seeds")
        panel.set_ylabel("share of tasks")
        panel.legend(frameon=False, fontsize=8, loc="upper left")
        return render_figure(figure)
