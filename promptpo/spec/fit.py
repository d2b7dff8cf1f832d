"""Keeping a spec within its size: what matters least goes first."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from promptpo.spec.parts import NOT_OBSERVED, Field, identifier, says_all, unique
from promptpo.spec.prose import cut, cut_to_aim
from promptpo.spec.render import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from promptpo.spec.parts import Parts

LONG = 12
SHORT, SHORT_GROUP = 40, 100
"""Characters that the meanings of a number and of a group keep where room is scarce."""

RUN = 5
"""Fewest neighbouring numbers that are told in one line."""

PLURAL = {"rad": "angles", "rad/s": "angular_velocities", "m": "positions", "m/s": "velocities"}
"""What to call numbers of a unit together."""

CHARACTERS_PER_TOKEN = 3.5
"""A cautious average for English and Python."""


def fitted(parts: Parts, tokens: int, aim: int | None = None) -> Parts:
    """The same parts, shortened until their text has at most about `tokens` tokens, as far as that is possible.

    Args:
        parts: What to shorten.
        tokens: The bound, for which also what is worth knowing gives way.
        aim: For so many only that gives way which another part says as well.
    """
    for most, steps in ((aim or tokens, _repeating()), (tokens, _telling())):
        for shorten in steps:
            if len(render(parts)) <= most * CHARACTERS_PER_TOKEN:
                break
            parts = shorten(parts)
    return parts


def _repeating() -> Iterator[Callable[[Parts], Parts]]:
    """Reductions of what is said elsewhere too, the one that costs least first."""
    yield _without_repeats
    yield lambda p: replace(
        p, observation_note=cut(p.observation_note, 250), description=cut_to_aim(p.description, 350)
    )
    yield lambda p: replace(p, start=_cut_prose(p.start, 320))
    yield _without_long_reward_text


def _telling() -> Iterator[Callable[[Parts], Parts]]:
    """Reductions of what nothing else says, the one that costs least first."""
    yield lambda p: replace(p, end=_cut_prose(p.end, 350))
    yield lambda p: replace(p, observation=[_with_short_meaning(f) for f in p.observation])
    yield _without_ranges
    yield lambda p: replace(p, action=[replace(f, meaning=cut(f.meaning, 40)) for f in p.action])
    yield _without_hidden
    yield _without_meanings
    yield lambda p: replace(p, reward_text=cut(p.reward_text, 600))
    yield _with_whole_arrays
    yield lambda p: replace(p, observation=_runs(p.observation))
    yield lambda p: replace(p, action=_runs(p.action))


def _without_hidden(parts: Parts) -> Parts:
    """Without the list of variables that the observation does not hold."""
    code = parts.reward_code
    if code is None:
        return parts
    words = {name: text for name, text in code.words.items() if name != NOT_OBSERVED}
    return replace(parts, reward_code=replace(code, words=words))


def _without_long_reward_text(parts: Parts) -> Parts:
    code = parts.reward_code
    return replace(parts, reward_text="") if code is not None and code.has_reward else parts


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


def _runs(found: Sequence[Field]) -> list[Field]:
    """Neighbouring numbers of one array that share unit and bounds become one field that lists their names."""
    kept: list[Field] = []
    for kind, group in groupby(found, key=_kind):
        fields = list(group)
        kept += [_run(fields, kind[0])] if kind and len(fields) >= RUN else fields
    names = unique([item.name for item in kept])
    return [replace(item, name=name) for item, name in zip(kept, names, strict=True)]


def _kind(item: Field) -> tuple[Any, ...]:
    """What the fields of a run have in common; empty where a field is no plain number of an array."""
    number = re.fullmatch(r"(.*)\[\d+\]", item.path)
    if number is None or item.form or item.whole or item.meaning:
        return ()
    return number[1], item.unit, item.low, item.high


def _run(fields: Sequence[Field], array: str) -> Field:
    first, last = (int(re.findall(r"\d+", item.path)[-1]) for item in (fields[0], fields[-1]))
    words = [item.name.split("_") for item in fields]
    common = [word for word in words[0] if all(word in other for other in words)]
    own = ["_".join(word for word in name if word not in common) for name in words]
    if "" in own:
        common, own = [], [item.name for item in fields]
    unit = fields[0].unit
    return replace(
        fields[0],
        name="_".join(common) or PLURAL.get(unit, "values"),
        path=f"{array}[{first}:{last + 1}]",
        form=f"{len(fields)} numbers",
        meaning=f"in this order: {', '.join(own)}",
        seen=None,
    )


def _cut_prose(text: str, limit: int) -> str:
    """Prose cut down, with the values of its parameters, which stand behind it."""
    values = [line for line in text.splitlines() if re.match(r"\w+ = ", line)]
    prose = cut("\n".join(line for line in text.splitlines() if line not in values), limit)
    named = [line for line in values if re.search(rf"\b{line.split(' = ')[0]}\b", prose)]
    return "\n".join([prose, *named])


def _with_short_meaning(item: Field) -> Field:
    """Names hardly say what a whole group of numbers is, so that groups keep more words."""
    return replace(item, meaning=cut(item.meaning, SHORT_GROUP if item.form else SHORT))


_GENERIC = frozenset(
    "angular velocity hinge joint rotor motor actuator coordinate torque applied height angle of the".split()  # noqa: SIM905 - reads better as a sentence
)
"""Words that a name, its unit or its place say in other words."""


def _without_repeats(parts: Parts) -> Parts:
    """The meaning of a number goes where its name says as much, or where another of the same name has said it.

    "bthigh_velocity: angular velocity of the back thigh" says nothing new after "bthigh_angle: angle of the back thigh".
    """
    explained: dict[str, set[str]] = {}

    def shorter(item: Field) -> Field:
        words = set(re.findall(r"[a-z0-9]+", item.meaning.lower())) - _GENERIC
        stem = "_".join(word for word in item.name.split("_") if word not in _GENERIC)
        known = {word for word in words if says_all(item.name, word)} | explained.get(stem, set())
        if item.form or "," in item.meaning or not stem:
            return item
        if not words <= known:
            explained[stem] = explained.get(stem, set()) | words
            return item
        return replace(item, meaning="")

    return replace(
        parts,
        observation=[shorter(item) for item in parts.observation],
        action=[shorter(item) for item in parts.action],
    )


def _axes(meaning: str) -> str:
    """The axes at the beginning of a meaning; empty where it begins otherwise."""
    found = re.match(r"[wxyz](?:, [wxyz])+(?= of:|$)", meaning)
    return found[0] if found else ""


def _without_meanings(parts: Parts) -> Parts:
    """Single numbers and axes lose their meaning: their names have most of it."""
    observation = [f if f.form else replace(f, meaning=_axes(f.meaning)) for f in parts.observation]
    return replace(parts, observation=observation, action=[replace(f, meaning="") for f in parts.action])
