"""Outcome and cost of a run, as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo.core.control import StopReason
from promptpo.core.returns import Evidence
from promptpo.files import Json
from promptpo.output.exporting import BEST
from promptpo.output.recorded_result import RecordedResult
from promptpo.output.report.result import REFINED, REPORT
from promptpo.output.sentences import sentence
from promptpo.prompts.feedback import with_noise
from promptpo.prompts.shortening import count_of
from promptpo_sandbox.text import clean_lines


def with_error(evidence: Evidence) -> str:
    """Format a mean return with its standard error and number of episodes."""
    mean = with_noise(evidence.mean_return, evidence.standard_error)
    return f"{mean} ({count_of(len(evidence.episodes), 'episode')})"


def describe_test(data: Json, directory: Path) -> list[str]:
    """Describe the test of the best policy, in lines."""
    test, result = data.get("test") or {}, RecordedResult.read(data)
    best = result.best
    whose = f", candidate {best.candidate}" if best.candidate else ""
    learns = "algorithm" in data and best.steps is not None
    whose += f", the agent after {best.steps:,} steps" if learns else ""
    beyond = test.get("held_out") or {}
    lines = [sentence("tested", "Held-out return", test, whose)]
    if data.get("products"):
        from promptpo.output.simulated import product_lines

        lines = product_lines(data) or lines
    lines += score_table(test.get("by_variant", ()))
    lines += [sentence("tested", "On variants held out from training", beyond)]
    lines += score_table(beyond.get("by_variant", ()))
    lines = list(filter(None, lines)) or ["Nothing was tested."]
    return [
        *lines,
        *filter(None, [sentence("untrained", data), sentence("last_agent", data)]),
        *caveats(data, directory),
    ]


def score_table(rows: Sequence[Json]) -> list[str]:
    """Format the scores of a family's variants as lines of a small table."""
    width = max((len(row["variant"]) for row in rows), default=0)
    return [f"  {row['variant']:<{width}}  {sentence('score', row) or 'nothing ran'}" for row in rows]


def caveats(data: Json, directory: Path) -> list[str]:
    """List what the returns of a result do not show, a line each."""
    test, ahead = data.get("test"), data.get("preflight")
    lines = [sentence("rewarded", test), sentence("cut", ahead, test, directory)]
    lines += [sentence("one_episode", data), sentence("one_series", ahead)]
    return list(filter(None, [*lines, sentence("revealed", data)]))


WHENCE = {
    "user": "The initial policy (--start); no policy written since is better.",
    "tuned": "The initial policy (--start), tuned; no policy written since is better.",
    "goal": "Written while the reward was checked; no policy written since is better.",
    "reference": "Random or constant actions; no policy that was written is better.",
    "simulator": "Found in a simulator, before the first round; no policy written since is better.",
    "network": "A network trained in a simulator; the best program is in program.py.",
    "search": "Written by program search, without a language model.",
}
"""Sentences about the origin of the best policy, if it is not a model's answer."""


def describe_extras(data: Json) -> list[str]:
    """Describe a result by its goal, its teacher and its network, a line each."""
    fidelity = sentence("fidelity", (data.get("teacher") or {}).get("fidelity"))
    refined = sentence("refined", data.get(REFINED))
    return list(filter(None, [data.get("verdict"), sentence("goal", data.get("goal")), fidelity, refined]))


def ending(data: Json, directory: Path) -> list[str]:
    """Describe how a run ended, its result, how good that is and who wrote it, for the run's end and for `show`."""
    stopped, best = StopReason.read(data), RecordedResult.read(data).best
    origin = "tuned" if best.origin == "user" and best.tuned else best.origin
    lines = [f"Stopped: {stopped}."] if stopped else []
    lines += HOW if stopped.kind == "stalled" else ()
    lines += [*describe_test(data, directory), *describe_extras(data)]
    return [*lines, WHENCE[origin]] if origin in WHENCE else lines


def spent_steps(steps: Mapping[Any, int]) -> str:
    """Format steps by purpose, without those that are zero."""
    return (
        ", ".join(f"{name} {count:,}" for name, count in steps.items() if count and name != "total") or "none"
    )


HOW = (
    "  class Policy:  # mine.py, for: promptpo optimize ENV --start mine.py",
    "      def act(self, obs):",
    "          return ...  # the action; numbers declared in PARAMS are tuned",
)
"""An example of a controller of the user's own."""


def outcome(data: Json, directory: Path) -> str:
    """Return the result of a run in a few lines."""
    lines = ending(data, directory)
    if data["best"] is None:
        return clean_lines(*lines, f"See what happened with: promptpo show {directory}")
    files = [f"Policy: {directory / BEST}"]
    if (directory / REPORT).exists():  # a full disk may have prevented it
        files.append(f"Report: {directory / REPORT}")
    return clean_lines(*lines, *filter(None, [sentence("references", data)]), *files)
