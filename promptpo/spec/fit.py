"""Keeping a spec within its size: what matters least goes first."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from promptpo.spec.parts import Field, identifier
from promptpo.spec.prose import cut
from promptpo.spec.render import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from promptpo.spec.parts import Parts

LONG = 12
CHARACTERS_PER_TOKEN = 3.5
"""A cautious average for English and Python."""


def fitted(parts: Parts, tokens: int) -> Parts:
    """The same parts, shortened until their text has at most about `tokens` tokens, as far as that is possible."""
    for shorten in _steps():
        if len(render(parts)) <= tokens * CHARACTERS_PER_TOKEN:
            break
        parts = shorten(parts)
    return parts


def _steps() -> Iterator[Callable[[Parts], Parts]]:
    """Reductions, the one that costs least first."""
    yield lambda p: replace(p, samples=())
    yield lambda p: replace(
        p, observation_note=cut(p.observation_note, 250), description=cut(p.description, 350)
    )
    yield lambda p: replace(p, start=cut(p.start, 320), end=cut(p.end, 350))
    yield _without_long_reward_text
    yield _without_ranges
    yield lambda p: replace(p, observation=[replace(f, meaning=cut(f.meaning, 40)) for f in p.observation])
    yield lambda p: replace(p, action=[replace(f, meaning=cut(f.meaning, 40)) for f in p.action])
    yield _without_meanings
    yield lambda p: replace(p, reward_text=cut(p.reward_text, 600))
    yield _with_whole_arrays


def _without_long_reward_text(parts: Parts) -> Parts:
    return replace(parts, reward_text="") if parts.reward_code else parts


def _without_ranges(parts: Parts) -> Parts:
    observation = [replace(f, seen=None, spans=() if f.seen else f.spans) for f in parts.observation]
    return replace(parts, observation=observation)


def _with_whole_arrays(parts: Parts) -> Parts:
    """Long arrays inside a dictionary become one field each, the one called "observation" excepted."""
    kept: list[Field] = []
    for key, group in groupby(parts.observation, key=lambda f: f.path.rpartition("[")[0]):
        fields = list(group)
        if len(fields) <= LONG or not key.endswith('"]') or key.endswith('"observation"]'):
            kept += fields
            continue
        name = identifier(key.rpartition('["')[2])
        meaning = f"in this order: {fields[0].name}, {fields[1].name}, ..., {fields[-1].name}"
        kept.append(Field(name, key, form=f"{len(fields)} numbers", meaning=meaning))
    return replace(parts, observation=kept)


def _axes(meaning: str) -> str:
    """The axes at the beginning of a meaning; empty where it begins otherwise."""
    found = re.match(r"[wxyz](?:, [wxyz])+(?= of:|$)", meaning)
    return found[0] if found else ""


def _without_meanings(parts: Parts) -> Parts:
    """Single numbers and axes lose their meaning: their names have most of it."""
    observation = [f if f.form else replace(f, meaning=_axes(f.meaning)) for f in parts.observation]
    return replace(parts, observation=observation, action=[replace(f, meaning="") for f in parts.action])
