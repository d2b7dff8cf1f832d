"""Table of mechanisms: size, effect of removing each with an interval, and the decision."""

from __future__ import annotations

import statistics
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo_benchmarks.statistics.across_tasks import mean_lead
from promptpo_benchmarks.statistics.anchors import SUCCESS, load_anchors
from promptpo_benchmarks.tuning.paired import STRUCTURES

MECHANISMS = Path(__file__).with_name("mechanisms.toml")

Row = Mapping[str, Any]
Differences = Mapping[str, Sequence[float]]
"""Normalised difference of each pair of runs, without minus with the mechanism, by task."""


def render_worth(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a line for each mechanism of `mechanisms.toml`.

    A mechanism names its evidence: ``rows`` ("recorded", "search" or "tuning 131072") with the labels of the code with
    and without it, or ``count``, a sentence.
    """
    lines = ["| mechanism | nodes | effect of removing it | decision |", "|---|--:|---|---|"]
    for mechanism in tomllib.loads(MECHANISMS.read_text(encoding="utf-8"))["mechanism"]:
        effect = mechanism.get("count") or describe_effect(
            rows, mechanism["rows"], mechanism["with"], mechanism["without"]
        )
        lines.append(f"| {mechanism['name']} | {mechanism['nodes']:,} | {effect} | {mechanism['verdict']} |")
    return "\n".join(lines)


def describe_effect(rows: Sequence[Row], kind: str, having: str, lacking: str) -> str:
    """Describe the effect of removing a mechanism: at the end, after each round, and on steps and calls."""
    mine = [row for row in rows if row["label"] in {having, lacking} and _kind(row) == kind]
    pairs = list(_pairs(mine, having, lacking))
    if not pairs:
        return "not measured"
    if kind.startswith("tuning"):
        return f"{_interval(tuning_differences(pairs))} in {len(pairs)} pairs"
    ends, rounds = final_differences(pairs), mean_differences(pairs)
    words = f"{_interval(ends)} at the end, {_interval(rounds)} over the rounds, {len(pairs)} pairs"
    shares = [f"{_ratio(pairs, what):.0%} of the {what}" for what in ("steps", "calls") if _sum(pairs, what)]
    return f"{words}; {', '.join(shares)}"


def final_differences(pairs: Sequence[tuple[Row, Row]]) -> Differences:
    """Return differences of the final scores."""
    return _by_task(pairs, lambda row, _: scores(row)[-1])


def mean_differences(pairs: Sequence[tuple[Row, Row]]) -> Differences:
    """Return differences of the mean over the rounds; a run that ended early keeps its last score in the rounds it saved."""
    return _by_task(pairs, lambda row, n: statistics.fmean([*scores(row), *[scores(row)[-1]] * n][:n]))


def tuning_differences(pairs: Sequence[tuple[Row, Row]]) -> Differences:
    """Return differences of the final scores of tuning alone."""
    found: dict[str, list[float]] = defaultdict(list)
    for having, lacking in pairs:
        task = STRUCTURES[having["env"]][0]
        anchors = load_anchors()[f"{task.env_id}-continuous" if task.env_kwargs else task.env_id]
        found[task.env_id].append(anchors.normalize(lacking["after"]) - anchors.normalize(having["after"]))
    return found


def _by_task(pairs: Sequence[tuple[Row, Row]], value: Any) -> Differences:
    found: dict[str, list[float]] = defaultdict(list)
    for having, lacking in pairs:
        n = max(len(having["digests"]), len(lacking["digests"]))
        found[having["task"]].append(value(lacking, n) - value(having, n))
    return found


def scores(row: Row) -> list[float]:
    """Return normalised scores of the best after each round, at least those of random actions, also without a policy."""
    anchors = SUCCESS if row["success"] else load_anchors()[row["task"]]
    judged = row["judged"]
    return [max(0.0, anchors.normalize(judged[digest])) if digest else 0.0 for digest in row["digests"]]


def _pairs(rows: Sequence[Row], having: str, lacking: str) -> Iterator[tuple[Row, Row]]:
    by = {(row["label"], _key(row)): row for row in rows}
    for (label, key), row in by.items():
        if label == having and (lacking, key) in by:
            yield row, by[lacking, key]


def _kind(row: Row) -> str:
    return str(row.get("kind") or f"tuning {row['budget']}")


def _key(row: Row) -> object:
    return row.get("case") or (row["env"], row["seed"])


def _sum(pairs: Sequence[tuple[Row, Row]], what: str) -> int:
    return sum(int(having[what]) for having, _ in pairs)


def _ratio(pairs: Sequence[tuple[Row, Row]], what: str) -> float:
    return sum(int(lacking[what]) for _, lacking in pairs) / _sum(pairs, what)


def _interval(differences: Differences) -> str:
    found = mean_lead(differences)
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
