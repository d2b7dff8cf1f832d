"""The first observation of an episode in words, and what differs between episodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.envs.pictures import pictures_in
from promptpo.prompts.columns import component_name, words
from promptpo.prompts.limits import HEADING_CHARS, SECTIONS
from promptpo.prompts.shortening import cut_between_words
from promptpo.prompts.step_table import cell, numbers, pictures
from promptpo.spec.reading import names_of

if TYPE_CHECKING:
    from promptpo.spec import TaskSpec


def start_in_words(spec: TaskSpec, *, texts: bool = True) -> str:
    """Describe one first observation by the spec's names, with ranges over a few episodes.

    Args:
        spec: Spec with the observations.
        texts: Whether to include texts in the observation, which reveal an environment's identity.

    Returns:
        The description; empty without observed episodes, or if observations contain images, which the spec describes.
    """
    firsts, names = spec.firsts, names_of(spec.text)
    if not firsts or pictures_in(spec.observation_space):
        return ""
    n = len(firsts)
    how = (
        f"the same in all {n} episodes"
        if spec.one_start
        else f"in brackets the range over {n} episodes, none used for training"
    )
    listed = ", ".join([*_numbers(firsts, names), *(_texts(firsts[0], names) if texts else ())])
    head = f"First observation of an episode ({how}): {cut_between_words(listed, SECTIONS['where'])}."
    return "\n".join([*([head] if listed else []), *pictures(firsts[0], "obs", names)])


def missions_in_words(firsts: Sequence[Any], others: Sequence[Any], names: Mapping[str, str]) -> list[str]:
    """Return the mission of each first observation in words: the first text in it that differs.

    Args:
        firsts: First observations of the episodes in question.
        others: First observations of other episodes, for comparison.
        names: From `promptpo.spec.reading.names_of`.

    Returns:
        ``mission "go to the red ball"`` for each; empty strings if no text differs between episodes.
    """
    missions = [dict(words(first, "obs")) for first in firsts]
    every = [*missions, *(dict(words(other, "obs")) for other in others)]
    labels = dict.fromkeys(label for texts in missions for label in texts)
    differs = next((n for n in labels if len({texts[n] for texts in every if n in texts}) > 1), None)
    if differs is None:
        return [""] * len(missions)
    name = component_name(differs, names)
    return [
        f'{name} "{cut_between_words(texts[differs], HEADING_CHARS)}"' if differs in texts else ""
        for texts in missions
    ]


def _numbers(firsts: Sequence[Any], names: Mapping[str, str]) -> list[str]:
    """Return ``name value (low .. high)`` for each field, with the entries of a field together."""
    every = [numbers(first, "obs") for first in firsts]
    fields: dict[str, list[str]] = {}
    for label in every[0]:
        fields.setdefault(component_name(label, names).split("[")[0], []).append(label)
    found = []
    for name, labels in fields.items():
        texts = [_value(label, every) for label in labels]
        found.append(f"{name} {texts[0]}" if len(texts) == 1 else f"{name} [{_list(texts)}]")
    return found


def _texts(first: Any, names: Mapping[str, str]) -> list[str]:
    return [f'{component_name(label, names)} "{text}"' for label, text in words(first, "obs")]


def _list(texts: Sequence[str]) -> str:
    """Join the values of a field; equal values are written once."""
    if len(texts) > 2 and len(set(texts)) == 1:  # noqa: PLR2004 - two are as short
        return f"{texts[0]}, {len(texts)} times"
    return ", ".join(texts)


def _value(label: str, every: Sequence[Mapping[str, float]]) -> str:
    values = [texts[label] for texts in every if label in texts]
    low, high = min(values), max(values)
    text = cell(round(values[0], 4))
    if not all(map(math.isfinite, values)):
        return text
    ends = (cell(low), cell(high))
    return text if ends[0] == ends[1] else f"{text} ({ends[0]} .. {ends[1]})"
