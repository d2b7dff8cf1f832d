"""What came out of a run and what it took, in lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from promptpo.files import Json
from promptpo.output.exporting import BEST
from promptpo.output.report.result import (
    REFINED,
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


def with_error(evidence: Evidence) -> str:
    """A mean return with its standard error, and of how many episodes it is."""
    told = with_noise(evidence.mean_return, evidence.standard_error)
    return f"{told} ({episodes_in_words(len(evidence.episodes))})"


def came_out(data: Json, directory: Path) -> list[str]:
    """What a result says of the test of the best, in lines."""
    test, best = data.get("test") or {}, data.get("best") or {}
    whose = f", candidate {best['candidate']}" if best.get("candidate") else ""
    whose += f", the agent after {best['steps']:,} steps" if best.get("steps") else ""
    beyond, lines = test.get("held_out") or {}, []
    for what, part in (("Held-out return", test), ("On variants held out from training", beyond)):
        score = score_in_words(part)
        said = f"{what} {score}{whose if part is test else ''}." if score else ""
        lines += [f"{said} {failures_in_words(part)}".strip(), *table(part.get("by_variant", ()))]
    lines = list(filter(None, lines)) or ["Nothing was tested."]
    return [*lines, *caveats(data, directory)]


def caveats(data: Json, directory: Path) -> list[str]:
    """What the returns of a result are not, a line each."""
    told = rewarded_in_words(data.get("test")), cut_in_words(data, directory), one_episode_in_words(data)
    return list(filter(None, told))


WHENCE = {
    "user": "Given at the start; nothing that was written since is better.",
    "tuned": "Tuned from what was given at the start; nothing that was written since is better.",
    "goal": "Written while its reward was judged; nothing that was written since is better.",
    "world model": "Found in a world model, before the first round; nothing that was written since is better.",
    "search": "Written by program search; no language model was asked.",
}
"""What is said of the best by its origin, where that is no model's answer."""


def worth(data: Json) -> list[str]:
    """What a result is worth, for a goal, after a teacher and as the start of a network, a line each."""
    fidelity = fidelity_in_words((data.get("teacher") or {}).get("fidelity"))
    told = data.get("verdict"), goal_in_words(data), fidelity, refined_in_words(data)
    return list(filter(None, told))


def ending(data: Json, directory: Path) -> list[str]:
    """How a run ended, what came of it, what that is worth and whose it is: as its end and `show` tell it."""
    stopped, best = data.get("stop_reason"), data.get("best") or {}
    origin = "tuned" if best.get("origin") == "user" and best.get("tuned") else best.get("origin", "")
    lines = [f"Stopped: {stopped}."] if stopped else []
    lines += HOW if stopped == NOTHING_BETTER else ()
    lines += [*came_out(data, directory), *worth(data)]
    return [*lines, WHENCE[origin]] if origin in WHENCE else lines


def refined_in_words(result: Json | None) -> str:
    """What refining brought, in sentences; empty where the run was not refined."""
    found = (result or {}).get(REFINED)
    if not isinstance(found, Mapping):
        return ""
    test, steps = found["test"], found["steps"]
    if not found["better"]:
        return f"Refined for {steps['train']:,} steps: no network was better on validation episodes than the program."
    what = "A network that acts alone" if found["alone"] else "The program with a network on top"
    return (
        f"Refined with {found['algorithm']} for {steps['train']:,} steps. {what} has a held-out return of "
        f"{score_in_words(test)}, {steps['total']:,} steps in all. It is in {found['policy']}."
    )


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


def outcome(data: Json, directory: Path) -> str:
    """The result of a run in a few lines."""
    lines, marks = ending(data, directory), references_in_words(data.get("references") or {})
    if data["best"] is None:
        return clean_lines(*lines, f"See what happened with: promptpo show {directory}")
    lines += [f"On the same seeds {marks}."] * bool(marks)
    return clean_lines(*lines, f"Policy: {directory / BEST}", f"Report: {directory / REPORT}")
