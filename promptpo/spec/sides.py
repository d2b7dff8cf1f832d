"""The two sides of a spec: what a policy sees, and what it returns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from promptpo.envs.family import AnyEnv, ShownVariant
from promptpo.envs.foreign import standard_space
from promptpo.envs.spaces import form_of, leaves
from promptpo.spec.fields import (
    choices_of,
    example_of,
    fields_of,
    names_kept,
    with_range,
)
from promptpo.spec.parts import Field, identifier
from promptpo.spec.prose import clean_prose
from promptpo.spec.render import number

if TYPE_CHECKING:
    from promptpo.spec.documentation import Documentation
    from promptpo.spec.known import Supplement
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts

NOTE = 700
"""Characters of what documentation says beyond names and numbers."""

_NAMELESS = re.compile(r"(?:x|values|value|array|part)(?:_(?:\d+|to))*$")


def with_observation(
    parts: Parts,
    env: AnyEnv,
    docs: Documentation,
    extra: Supplement,
    observed: Observed,
    sources: dict[str, str],
    *,
    prose: bool = True,
) -> Parts:
    """The parts with what a policy sees; `prose` is whether documentation is told beyond names."""
    space, section = env.observation_space, docs["observation"]
    inner = standard_space(env.unwrapped.observation_space)
    wrapped = space.shape != inner.shape or isinstance(env, ShownVariant)  # tables of the class do not fit
    if extra.observation and not wrapped:
        found = [with_range(item, space, observed.observations) for item in extra.observation]
        sources["State"] = "known"
    else:
        found = fields_of("obs", space, section, names_kept(env.unwrapped), observed.observations)
        found = list(_name_fields(found, observed.attributes.names(space) if observed.attributes else {}))
        kept = any(not _NAMELESS.match(item.name) for item in found)
        sources["State"] = (
            "documentation" if section.text or section.tables else "environment" if kept else "space"
        )
    text = clean_prose(section.text, NOTE) if prose else ""
    if extra.observation_note is not None:
        text = "" if wrapped else extra.observation_note
    return replace(
        parts,
        blocks={} if wrapped else extra.blocks,
        observation_form=form_of(space),
        observation=found,
        observation_note=text,
    )


def _name_fields(found: Sequence[Field], names: Mapping[str, str]) -> Iterator[Field]:
    """Numbers without a name under that of the one attribute that always held them."""
    taken = {item.name for item in found}
    for item in found:
        name = identifier(names.get(item.path, ""))
        use = name and name not in taken and _NAMELESS.match(item.name)
        yield replace(item, name=name) if use else item


def with_action(
    parts: Parts,
    env: AnyEnv,
    docs: Documentation,
    extra: Supplement,
    sources: dict[str, str],
    *,
    clip_actions: bool,
    prose: bool = True,
) -> Parts:
    """The parts with what a policy returns; `prose` as for the observation."""
    space, section, own = env.action_space, docs["action"], standard_space(env.unwrapped.action_space)
    discrete = isinstance(space, spaces.Discrete)
    choices = list(extra.choices)[: getattr(space, "n", 0)] or (
        choices_of(env.unwrapped, space, section) if discrete else []
    )
    note = clean_prose(section.text, NOTE) if prose else ""
    note = note if extra.action_note is None else extra.action_note
    notes = [re.sub(r"(?m)^- \d+: .*\n?", "", note) if choices else note]  # the choices tell it
    if any(isinstance(leaf, spaces.Box) for _, leaf in leaves(space)):
        notes.append(
            "Values outside the bounds are clipped to them, and counted."
            if clip_actions
            else "Values outside the bounds are not allowed."
        )
    found = [] if discrete else list(extra.action) or fields_of("action", space, section)
    found = _apply_gears(found, getattr(env.unwrapped, "model", None))
    if found and space != own and space.shape == own.shape and isinstance(space, spaces.Box):
        unbounded = (replace(item, spans=(), unit="") for item in found)
        found = [with_range(item, space) for item in unbounded]
        notes.append(
            "A wrapper scales actions: the bounds are its own, the meanings those of the environment."
        )
    documented = "documentation" if section.tables or section.text else "environment" if choices else "space"
    sources["Action"] = "known" if extra.action or extra.choices else documented
    return replace(
        parts,
        action_form=form_of(space),
        action_example=example_of(space),
        action=found,
        choices=choices,
        action_note="\n".join(filter(None, notes)),
    )


def _apply_gears(found: Sequence[Field], model: Any) -> list[Field]:
    """Actions with the factor by which MuJoCo's motors multiply them."""
    if getattr(model, "nu", None) != len(found):
        return list(found)
    gears = [float(gear) for gear in model.actuator_gear[:, 0]]
    return [
        item
        if gear == 1
        else replace(
            item,
            unit="",
            meaning="; ".join(filter(None, [f"times {number(gear)} {item.unit}".rstrip(), item.meaning])),
        )
        for item, gear in zip(found, gears, strict=True)
    ]
