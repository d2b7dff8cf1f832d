"""Steps of an episode as a table: some evenly spread, and more where most happens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.prompts.columns import component_name, components, leaves, over_steps, words
from promptpo.prompts.feedback import number
from promptpo.prompts.limits import COLUMNS, DOUBLING, PICTURE, SECTIONS, SPREAD, WIDEST

if TYPE_CHECKING:
    from promptpo_sandbox import Episode

ENTRY = re.compile(r"\[[\d, ]+\]$")
"""Ending of the name of a vector's entry."""

TABLE = "step|"
"""Beginning of a table of steps."""


def render_steps(episode: Episode, names: Mapping[str, str]) -> str:
    """Return a table with a heading and a row per step; empty if no steps are recorded.

    The columns keep their order: observation, ``debug``, action, reward. Observation and ``debug`` columns that are constant are
    dropped; what is observed in them stands below unless it is 0. Pictures of the last observation are shown below, row by row. If rows are long, fewer of the spread steps are shown.

    Args:
        episode: An episode, recorded or not.
        names: From `promptpo.spec.reading.names_of`.
    """
    seen = episode.trajectory
    if seen is None or not len(seen.rewards):
        return ""
    steps = len(seen.rewards)
    at = select_steps(seen.rewards, ended=episode.terminated or episode.failure is not None)
    done = _texts([seen.actions[t] for t in at], "action", names, COLUMNS // 3, constant=True)
    debug = [seen.debug[t] if t < len(seen.debug) else None for t in at]
    kept = {f"debug.{name}": texts for name, texts in _texts(debug, "obs", {}, COLUMNS // 3).items()}
    kind = "seen" if seen.perceived else "obs"
    room = COLUMNS - 1 - len(done) - len(kept)
    shown = (*at, *range(steps, len(seen.observations)))
    observed = [seen.observations[t] for t in shown]
    columns = _texts(observed, kind, names, room)
    every = _texts(observed, kind, names, 10 * COLUMNS, constant=True)
    fixed = [f"{name} {texts[0]}" for name, texts in every.items() if {*texts} <= {texts[0]} - {"0"}]
    done = {f"action.{name}" if name in columns else name: texts for name, texts in done.items()}
    columns |= {**kept, **done, "reward": [cell(seen.rewards[t]) for t in at]}
    rows = [TABLE + "|".join(columns)]
    for i, t in enumerate(shown):
        rows.append(
            "|".join([str(t), *(column[i] if i < len(column) else "" for column in columns.values())])
        )
    rows += [f"constant: {', '.join(fixed[:COLUMNS])}"] if fixed else []
    while len(rows) > DOUBLING + 2 and len("\n".join(rows)) > SECTIONS["steps"]:
        del rows[2]
    return "\n".join([*rows, *pictures(observed[-1], kind, names, f" at step {t}")])


def select_steps(rewards: Sequence[float], *, ended: bool) -> list[int]:
    """Return the steps of an episode to show: some spread over it, and some at doubling distances from the most telling one.

    That one is the last of an episode that ended by itself, else the one at which the reward changes most, with others on both sides.
    """
    steps = len(rewards)
    base, middle = 2, steps - 1
    if not ended:
        base, middle = -2, 1 + int(np.argmax(np.abs(np.diff(rewards, append=rewards[-1]))))
    # multiples of the golden section do not align with any period of a task
    spread = np.arange(SPREAD) * 0.618 % 1 * steps
    near = (middle - base**n for n in range(DOUBLING))
    return sorted({*map(int, spread), steps - 1, middle, *near} & {*range(steps)})


def cell(value: float) -> str:
    """Format a number for a table: integers exactly, since they may be codes, others with three digits, tiny ones as 0."""
    if abs(value) < 1e6 and float(value).is_integer():  # noqa: PLR2004
        return f"{value + 0.0:.0f}"  # never "-0"
    return "0" if abs(value) < 1e-4 else number(float(value))  # noqa: PLR2004


def pictures(value: Any, kind: str, names: Mapping[str, str], when: str = "") -> list[str]:
    """Return arrays that are pictures in an observation, one line per row, the channels of an entry joined by commas."""
    parts = value.items() if isinstance(value, dict) else [("", value)]
    lines = []
    for key, part in parts:
        if not _picture(part) or part.ndim not in {2, 3}:
            continue
        if max(part.shape[:2]) > WIDEST or (part.ndim == 3 and part.shape[2] > 3):  # noqa: PLR2004 - channels
            continue
        label = component_name(f"{kind}[{key!r}]" if key else kind, names)
        lines.append(f"{label}{when}, one line per first index:")
        lines += [
            " ".join(",".join(map(cell, np.atleast_1d(entry).tolist())) for entry in row) for row in part
        ]
    return lines


def _picture(value: Any) -> bool:
    """Whether an array is shown by rows rather than by entries."""
    whole = isinstance(value, np.ndarray) and value.ndim > 1 and value.dtype.kind in "iu"
    return whole or (isinstance(value, np.ndarray) and value.size > PICTURE)


def _texts(
    values: Sequence[Any], kind: str, names: Mapping[str, str], most: int, *, constant: bool = False
) -> dict[str, list[str]]:
    """Return one text per step for each of the first components that are no pictures, by name; a vector of flags is one."""
    parts = [cells(value, kind) for value in values]
    found = {
        _flat(component_name(label, names)): [text or "" for text in texts]
        for label, texts in over_steps(parts).items()
    }
    vectors: dict[str, list[str]] = {}
    for name in found:
        vectors.setdefault(ENTRY.sub("", name), []).append(name)
    columns = {}
    for vector, entries in vectors.items():
        if len(entries) > 1 and {"0", "1"}.issuperset(text for name in entries for text in found[name]):
            columns[component_name(vector, names)] = [
                "".join(flags) for flags in zip(*(found[name] for name in entries), strict=True)
            ]
        else:
            columns |= {name: found[name] for name in entries}
    kept = [(name, texts) for name, texts in columns.items() if constant or len(set(texts)) > 1]
    return dict(kept[:most])


def numbers(value: Any, kind: str) -> dict[str, float]:
    """Return the numbers in a value by label, without those of pictures."""
    shown = ((label, leaf) for label, leaf in leaves(value, kind) if not _picture(leaf))
    return {label: component for name, leaf in shown for label, component in components(leaf, name)}


def cells(value: Any, kind: str) -> dict[str, str]:
    """Return the numbers and texts in a value as table cells by label, without pictures."""
    texts = {label: cell(component) for label, component in numbers(value, kind).items()}
    return texts | {label: _flat(text) for label, text in words(value, kind)}


def _flat(text: str) -> str:
    """Return text that cannot leave its table cell."""
    return text.replace("|", "/").replace("\n", " ")
