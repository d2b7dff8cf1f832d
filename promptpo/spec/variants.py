"""What a spec says of a family: its variants, and whether the policy can see which one it is in."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.family import ShownVariant, family_of
from promptpo.envs.spaces import at, leaves
from promptpo.spec.documentation import documentation_of
from promptpo.spec.known import known
from promptpo.spec.parts import Field
from promptpo.spec.prose import cut
from promptpo.spec.render import WIDTH, number

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.spaces import AnySpace
    from promptpo.envs.task import Task, Variant
    from promptpo.levels import Reveal
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts

LARGEST = 2000
"""Numbers of an observation among which one that tells the variant is looked for."""

LONGEST = 160
"""Characters that tell what one of several environments is about."""

LISTED = 40
"""Variants that are listed one by one."""


def with_variants(
    parts: Parts, env: gymnasium.Env[Any, Any], task: Task, observed: Observed, reveal: Reveal
) -> Parts:
    """The parts with a block that lists the variants of a family; the same for a single environment."""
    family = family_of(env)
    if family is None:
        return parts
    mixed = len({type(one.unwrapped) for one in family.everyone()}) > 1
    n = len(task.family)
    told = [
        f"One policy for {n} variants of this task: each episode is of one of them, they take turns, and the score "
        "is the mean over all."
        if n > 1
        else "Training plays this variant of the task.",
        _visible(task, observed, env.observation_space),
        "Their rewards and the meanings of their observations may differ: what follows tells those of variant 0."
        if mixed
        else "",
        "The policy is also tested on variants that are not listed here." if task.held_out else "",
    ]
    lines = [f"# {line}" for text in told for line in textwrap.wrap(text, WIDTH - 2)]
    if reveal == "bare":
        lines.append(f"{n} variant{'' if n == 1 else 's'}")
    else:
        named = task.family[:LISTED]
        about = [_about(one) if mixed else "" for one in family.everyone()]
        lines += [f"{i}: {_words(variant, reveal)}{about[i]}" for i, variant in enumerate(named)]
        lines += [f"... {n - len(named)} more"] if n > len(named) else []
    return replace(parts, blocks={**parts.blocks, "VARIANTS": "\n".join(lines)})


def _words(variant: Variant, reveal: Reveal) -> str:
    """A variant's arguments; another environment's name only where names may be told."""
    shown: Variant = variant if reveal in {"source", "named"} else replace(variant, env_id="")
    return shown.name


def _about(env: gymnasium.Env[Any, Any]) -> str:
    """What one of several environments is about, in a sentence or two."""
    text = known(env).description or documentation_of(type(env.unwrapped))["description"].text
    said: str = cut(" ".join(text.split()), LONGEST)
    return f": {said}" if said else ""


def _visible(task: Task, observed: Observed, space: AnySpace) -> str:
    if task.show_variant:
        return 'obs["variant"] says which one it is.'
    if len(task.family) == 1:
        return "Nothing says how others differ from it but what happens in them."
    found = telling(task, observed, space)
    if found is None:
        return (
            "The observation does not say which one it is: no number in it is fixed by the variant. Find out from what "
            "happens, or do what is good in all."
        )
    path, values = found
    return f"{path} tells which one it is: {', '.join(number(value) for value in values)}, in their order."


def telling(task: Task, observed: Observed, space: AnySpace) -> tuple[str, list[float]] | None:
    """A number of the observation that stays the same within each variant and differs between all of them.

    Returns:
        The expression that reads it, and its value in each variant; None where there is none.
    """
    by_variant: dict[int, list[Any]] = {}
    for step in observed.steps:
        by_variant.setdefault(task.index_of(step.seed), []).extend((step.observation, step.next_observation))
    if len(by_variant) < len(task.family):
        return None
    for path, leaf in leaves(space):
        if leaf.dtype is None or leaf.dtype.kind not in "iufb":
            continue
        rows = [
            np.array([np.ravel(at(observation, path)) for observation in by_variant[index]], dtype=float)
            for index in sorted(by_variant)
        ]
        if rows[0].shape[1] > LARGEST:
            continue
        fixed = np.all([(row == row[0]).all(axis=0) for row in rows], axis=0)
        for place in np.flatnonzero(fixed):
            values = [float(row[0, place]) for row in rows]
            if len(set(values)) == len(values):
                return _expression(path, leaf.shape or (), int(place)), values
    return None


def _expression(path: tuple[str | int, ...], shape: tuple[int, ...], place: int) -> str:
    index = ", ".join(str(int(i)) for i in np.unravel_index(place, shape)) if shape else ""
    # double quotes, as everywhere in a spec
    keys = "".join(f'["{key}"]' if isinstance(key, str) else f"[{key}]" for key in path)
    return f"obs{keys}" + (f"[{index}]" if index else "")


def without_number(observed: Observed) -> Observed:
    """The observations of a family that shows the number of the variant, without it."""
    return replace(
        observed,
        steps=[
            replace(
                step,
                observation=step.observation["observation"],
                next_observation=step.next_observation["observation"],
            )
            for step in observed.steps
        ],
        observations=[observation["observation"] for observation in observed.observations],
    )


def with_number(parts: Parts, env: ShownVariant) -> Parts:
    """The parts of a description of what is beside the number of the variant, with that number."""
    moved = [
        replace(item, path=re.sub(r"\bobs\b", 'obs["observation"]', item.path)) for item in parts.observation
    ]
    last = env.observation_space["variant"].n - 1  # type: ignore[index] # a Dict, see there
    shown = Field(
        "variant",
        'obs["variant"]',
        0.0,
        float(last),
        whole=True,
        meaning="number of the variant; see VARIANTS",
    )
    told = 'In `reward`, obs and next_obs are what is at "observation".' if parts.reward_code else ""
    return replace(
        parts,
        observation=[*moved, shown],
        observation_note="\n".join(filter(None, [parts.observation_note, told])),
        observation_form=f'dict: "observation" ({parts.observation_form}), "variant" (int, 0 .. {last})',
    )
