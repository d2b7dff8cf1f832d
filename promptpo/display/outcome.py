"""What came out of a run and what it took, in lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.files import Json
from promptpo.output.report.result import (
    REPORT,
    cut_in_words,
    failures_in_words,
    fidelity_in_words,
    goal_in_words,
    one_episode_in_words,
    references_in_words,
    rewarded_in_words,
)
from promptpo.output.report.scores import score_in_words, table
from promptpo.run.evidence import Evidence
from promptpo.search.stopping import NOTHING_BETTER
from promptpo.telling.feedback import episodes_in_words, with_noise
from promptpo_sandbox.text import clean_lines

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult


def with_error(evidence: Evidence) -> str:
    """A mean return with its standard error, and of how many episodes it is."""
    told = with_noise(evidence.mean_return, evidence.standard_error)
    return f"{told} ({episodes_in_words(len(evidence.episodes))})"


def came_out(data: Json, directory: Path) -> list[str]:
    """What a result says of the test of the best, in lines."""
    test, candidate = data["test"] or {}, (data.get("best") or {}).get("candidate")
    lines: list[str] = []
    parts = {"Held-out return": test, "On variants held out from training": test.get("held_out") or {}}
    for what, part in parts.items():
        said = score_in_words(part) or "nothing ran"
        whose = f", candidate {candidate}" if candidate and part is test else ""
        lines += (
            [f"{what} {said}{whose}. {failures_in_words(part)}".strip(), *table(part.get("by_variant", ()))]
            if part
            else []
        )
    rest = [rewarded_in_words(test), cut_in_words(data, directory), one_episode_in_words(data)]
    return [line for line in [*lines, *rest] if line]


def worth(data: Json) -> list[str]:
    """What a result is worth, and does for a goal or after a teacher, a line each."""
    teacher = data.get("teacher") or {}
    told = (data.get("verdict"), goal_in_words(data), fidelity_in_words(teacher.get("fidelity")))
    return list(filter(None, told))


def many(count: int, one: str, more: str) -> str:
    """A number with the word for it."""
    return f"{count} {one if count == 1 else more}"


def spent_steps(steps: Mapping[Any, int]) -> str:
    """Steps by what they were for, where there are any."""
    return (
        ", ".join(f"{name} {count:,}" for name, count in steps.items() if count and name != "total") or "none"
    )


HOW = (
    "  class Policy:  # mine.py, for: promptpo optimize ENV --start mine.py",
    "      def act(self, obs):",
    "          return ...  # what you would do; numbers declared in PARAMS are tuned",
)
"""How a controller of one's own is written."""


def outcome(run: RunResult) -> str:
    """The result in a few lines."""
    data = run.data
    lines = [f"Stopped: {run.stop_reason}.", *(HOW if run.stop_reason == NOTHING_BETTER else ())]
    if data["best"] is None:
        return clean_lines(
            *lines,
            *worth(data),
            f"See what happened with: promptpo show {run.directory}",
        )
    lines += came_out(data, run.directory)
    if data.get("references"):
        lines.append(f"On the same seeds {references_in_words(data['references'])}.")
    lines += worth(data)
    whence = {
        "user": "Tuned from what was given at the start" if data["best"]["tuned"] else "Given at the start",
        "goal": "Written while its reward was judged",
        "world model": "Found in a world model, before the first round",
    }.get(data["best"].get("origin", ""))
    if whence is not None:
        lines.append(f"{whence}; nothing that was written since is better.")
    elif not data["language_model"]:
        lines.append("Written by program search; no language model was asked.")
    lines.append(f"Policy: {run.policy_path}")
    lines.append(f"Report: {run.directory / REPORT}")
    return clean_lines(*lines)
