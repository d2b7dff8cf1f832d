"""The two sides of a spec: what a policy sees, and what it returns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import form_of, leaves
from promptpo.spec.fields import SPANNED, bounds, choices_of, example_of, fields_of, named_choices, with_seen
from promptpo.spec.motors import with_motors
from promptpo.spec.parts import Field, identifier, unique
from promptpo.spec.paths import reader
from promptpo.spec.prose import note
from promptpo.spec.rows import finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import gymnasium

    from promptpo.spec.documentation import Documentation
    from promptpo.spec.known import Supplement
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts


def with_observation(
    parts: Parts,
    env: gymnasium.Env[Any, Any],
    docs: Documentation,
    extra: Supplement,
    observed: Observed,
    room: int,
    sources: dict[str, str],
) -> Parts:
    """The parts with what a policy sees; `room` is characters for the note on it."""
    space, section = env.observation_space, docs["observation"]
    same = space == env.unwrapped.observation_space or not _is_wrapped(env)
    if extra.observation and same:
        found: Sequence[Any] = _with_bounds(extra.observation, "obs", space)
        sources["State"] = "known"
    else:
        found = fields_of("obs", space, section)
        if extra.w_first:
            found = [_w_first(item) for item in found]
        sources["State"] = "documentation" if section.tables else "space"
        found = _whole_boxes(found, space, names_kept(env.unwrapped))
        found = _named(found, observed, space)
        names = unique([item.name for item in found])
        found = [replace(item, name=name) for item, name in zip(found, names, strict=True)]
    text = note(section.text, room)
    if extra.observation_note is not None:
        text = extra.observation_note if same else ""
    return replace(
        parts,
        observation_form=form_of(space),
        observation=with_seen(found, "obs", observed.observations),
        observation_note=text if room or extra.observation_note else "",
    )


def names_kept(env: Any) -> dict[int, list[str]]:
    """Lists of names that an environment keeps as ``state_names``, ``reference_names`` and the like, by their length."""
    found: dict[int, list[list[str]]] = {}
    for name in dir(env):
        if not re.search(
            r"(?:state|obs|observation|reference|feature|column)\w*_(?:names|labels|keys)$", name
        ):
            continue
        value = getattr(env, name, None)
        if isinstance(value, list | tuple | np.ndarray) and all(isinstance(one, str) for one in value):
            listed = [str(one) for one in value]
            if len(set(listed)) == len(listed) and listed not in found.setdefault(len(listed), []):
                found[len(listed)].append(listed)
    return {n: lists[0] for n, lists in found.items() if len(lists) == 1}


def _whole_boxes(found: Sequence[Field], space: Any, kept: Mapping[int, list[str]]) -> list[Field]:
    """The fields with those of a box without names one by one, where the environment keeps as many names."""
    fields = list(found)
    for path, leaf in leaves(space):
        root = "obs" + "".join(f"[{json.dumps(key)}]" for key in path)
        inner = [one for one in fields if one.path == root or one.path.startswith(f"{root}[")]
        plain = (
            isinstance(leaf, spaces.Box)
            and len(leaf.shape) == 1
            and all(_NAMELESS.match(one.name) for one in inner)
        )
        names = kept.get(leaf.shape[0]) if plain and leaf.shape else None
        if not names or not inner or not isinstance(leaf, spaces.Box):
            continue
        low, high = np.ravel(leaf.low), np.ravel(leaf.high)
        named = [
            Field(re.sub(r"\W+", "_", name), f"{root}[{i}]", finite(float(low[i])), finite(float(high[i])))
            for i, name in enumerate(names)
        ]
        at = fields.index(inner[0])
        fields = [one for one in fields if one not in inner]
        fields[at:at] = named
    return fields


_NAMELESS = re.compile(r"(?:x|values|value|array|part)(?:_(?:\d+|to))*$")


def _named(found: Sequence[Field], observed: Observed, space: Any) -> list[Field]:
    """Numbers without a name under that of a list of names that the environment keeps, or of the attribute that held them."""
    names = observed.trial.names(space) if observed.trial is not None else {}
    taken = {item.name for item in found}
    named = []
    for item in found:
        name = identifier(names.get(item.path, ""))
        good = name and name not in taken and _NAMELESS.match(item.name)
        named.append(replace(item, name=name) if good else item)
    return named


def _w_first(item: Field) -> Field:
    """A quaternion in the order that the simulator uses, where the documentation has another."""
    return replace(item, meaning=re.sub(r"^x, y, z, w\b", "w, x, y, z", item.meaning))


def _is_wrapped(env: gymnasium.Env[Any, Any]) -> bool:
    """Whether a wrapper changed the shape of the observations, so that the class's tables do not fit."""
    return env.observation_space.shape != env.unwrapped.observation_space.shape


def _with_bounds(found: Sequence[Any], root: str, space: gymnasium.Space[Any]) -> list[Any]:
    """Fields of a table of ours, with the bounds of the space where the table gives none."""
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        return list(found)
    return [_bounded(item, root, space) for item in found]


def _bounded(item: Any, root: str, space: spaces.Box) -> Any:
    """A field with the bounds that the space declares for it."""
    if np.isfinite(item.low) or np.isfinite(item.high) or "always" in item.meaning:
        return item
    read = reader(item.path, root)
    if read is None:
        return item
    low, high = np.ravel(read(space.low)), np.ravel(read(space.high))
    if low.size == 1:
        return replace(item, low=finite(float(low[0])), high=finite(float(high[0])))
    if low.size <= SPANNED and np.isfinite(low).all() and np.isfinite(high).all():
        return replace(item, spans=tuple(zip(low.tolist(), high.tolist(), strict=True)))
    return item


def _rescaled(item: Field, space: spaces.Box) -> Field:
    """A component of an action that a wrapper scales: it has other bounds, and no unit."""
    low, high = bounds(space)
    return replace(item, low=low, high=high, spans=(), unit="")


def with_action(
    parts: Parts,
    env: gymnasium.Env[Any, Any],
    docs: Documentation,
    extra: Supplement,
    room: int,
    sources: dict[str, str],
    *,
    clip_actions: bool,
) -> Parts:
    """The parts with what a policy returns; `room` is characters for the note on it."""
    space, section = env.action_space, docs["action"]
    notes = [extra.action_note if extra.action_note is not None else note(section.text, room, choices=True)]
    if any(isinstance(leaf, spaces.Box) for _, leaf in leaves(space)):
        notes.append(
            "Values outside the bounds are clipped to them, and counted."
            if clip_actions
            else "Values outside the bounds are not allowed."
        )
    choices = []
    if isinstance(space, spaces.Discrete):
        choices = list(extra.choices) or choices_of(space, section) or named_choices(env.unwrapped, space)
    found = () if isinstance(space, spaces.Discrete) else extra.action or fields_of("action", space, section)
    found = with_motors(found, env.unwrapped, space)
    own = env.unwrapped.action_space
    if found and space != own and space.shape == own.shape and isinstance(space, spaces.Box):
        found = [_rescaled(item, space) for item in found]
        notes.append(
            "A wrapper scales actions: the bounds are its own, the meanings those of the environment."
        )
    sources["Action"] = (
        "known"
        if extra.action or extra.choices
        else "documentation"
        if section.tables or section.choices
        else "space"
    )
    return replace(
        parts,
        action_form=form_of(space),
        action_example=example_of(space),
        action=found,
        choices=choices,
        action_note="\n".join(filter(None, notes)),
    )
