"""Descriptions of episodes without returns, and parsing of judgements on which is closer to a goal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from promptpo.prompts.columns import component_name, components, over_steps, words
from promptpo.prompts.limits import COLUMNS
from promptpo.prompts.shortening import count_of
from promptpo.prompts.step_table import cell, select_steps

if TYPE_CHECKING:
    from promptpo_sandbox import Episode

Preference = Literal["first", "second", "equal"]
Fulfilled = Literal["yes", "partly", "no"]

EARNED = re.compile(r"reward|return|cost|score", re.IGNORECASE)
"""Names in ``info`` of numbers that reveal the reward instead of the behaviour."""


def describe_episode(episode: Episode, names: Mapping[str, str], horizon: int | None = None) -> str:
    """Describe an episode's observations and actions as two tables, without its return.

    Numbers of the environment's ``info`` are included if recorded, except those that reveal the reward.

    Args:
        episode: A recorded episode.
        names: From `promptpo.spec.reading.names_of`.
        horizon: Maximum episode length in steps, if this episode may have been cut earlier.
    """
    seen = episode.trajectory
    steps = 0 if seen is None else len(seen.actions)
    ending = "the environment ended it" if episode.terminated else "it lasted its full length"
    if not episode.terminated and horizon is not None and steps < horizon:
        ending = f"it was cut there, before its limit of {horizon} steps"
    head = f"{count_of(steps, 'step')}; {ending}."
    if seen is None or not steps:
        return head
    ends = [*words(seen.observations[0], "obs"), *words(seen.observations[-1], "obs")]  # texts, once if equal
    head = "\n".join([head, *(f'{component_name(n, names)}: "{text}"' for n, text in dict.fromkeys(ends))])
    numbers, observed = _info(seen.infos), _table(seen.observations, "obs", names)
    done = _table(seen.actions, "action", names)
    whole = {**numbers, **_most_changing(observed, 3 * COLUMNS), **_most_changing(done, COLUMNS)}
    lines = ["over the episode|first|last|min|mean|max"]
    lines += [
        "|".join([name, *map(cell, (v[0], v[-1], v.min(), v.mean(), v.max()))]) for name, v in whole.items()
    ]
    if not whole:
        return head
    shown = {
        **_most_changing(numbers, COLUMNS // 2),
        **_most_changing(observed, COLUMNS),
        **_most_changing(done, COLUMNS // 3),
    }
    at = select_steps(seen.rewards, ended=episode.terminated)
    lines += ["", "|".join(["step", *shown])]
    lines += ["|".join([str(t), *(cell(column[t]) for column in shown.values())]) for t in at]
    return "\n".join([head, *lines])


def _info(infos: Sequence[Mapping[str, float]]) -> dict[str, np.ndarray]:
    """Return one number per step for each entry that every step has, by name."""
    columns = {f"info {n}": np.array(c, float) for n, c in over_steps(infos).items() if not EARNED.search(n)}
    return _most_changing({name: c for name, c in columns.items() if np.isfinite(c).all()}, COLUMNS)


def _table(values: Sequence[object], kind: str, names: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return one number per step for each component, by name."""
    found = over_steps([dict(components(value, kind)) for value in values])
    return {component_name(label, names): np.array(column, float) for label, column in found.items()}


def _most_changing(columns: Mapping[str, np.ndarray], most: int) -> dict[str, np.ndarray]:
    """Return the columns with the most distinct values, in their original order."""
    if len(columns) <= most:
        return dict(columns)
    chosen = sorted(columns, key=lambda name: -len(set(map(cell, columns[name]))))[:most]
    return {name: column for name, column in columns.items() if name in chosen}


def preferences_in(text: str, count: int) -> list[Preference | None]:
    """Parse an answer's preference for each pair; None if it cannot be read.

    Args:
        text: Text with lines like ``PAIR 2: A``, B or =.
        count: Number of pairs.
    """
    words: Mapping[str, Preference] = {"A": "first", "B": "second", "=": "equal"}
    found: list[Preference | None] = [None] * count
    for number, word in re.findall(
        r"^\W*PAIR\s+(\d+)\W*[:=-]+\s*\W*?([AB=])(?![A-Za-z])", text, re.MULTILINE
    ):
        if 0 < int(number) <= count:
            found[int(number) - 1] = words[word]
    return found


def verdict_in(text: str) -> tuple[Fulfilled | None, str]:
    """Parse an answer's verdict on a goal and its reason; None if it cannot be read."""
    verdict = re.search(r"^\W*VERDICT\W*?:\W*(yes|partly|no)\b", text, re.MULTILINE | re.IGNORECASE)
    why = re.search(r"^\W*BECAUSE\W*?:[\s*]*(.+)", text, re.MULTILINE | re.IGNORECASE)
    return cast("Fulfilled", verdict[1].lower()) if verdict else None, why[1].strip() if why else ""
