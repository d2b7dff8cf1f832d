"""What a spec says of a family: its variants, and whether the policy can see which one it is in."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.envs.family import AnyEnv, ShownVariant, family_of
from promptpo.envs.spaces import form_of
from promptpo.spec.documentation import documentation_of
from promptpo.spec.parts import Field
from promptpo.spec.prose import cut
from promptpo.spec.render import WIDTH

if TYPE_CHECKING:
    from promptpo.envs.task import Reveal, Task, Variant
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Parts

LONGEST = 160
"""Characters that tell what one of several environments is about."""

VARIANTS = "VARIANTS"
"""The block."""

LISTED = 40
"""Variants that are listed one by one."""


def variants_of(env: AnyEnv, task: Task, reveal: Reveal) -> dict[str, str]:
    """The block that lists the variants of a family; empty for a single environment."""
    family = family_of(env)
    if family is None:
        return {}
    kinds = [type(one.unwrapped) for one in family.everyone()]
    mixed = len(set(kinds)) > 1
    n = len(task.family)
    told = [
        f"One policy for {n} variants of this task: each episode is of one of them, they take turns, and the score "
        "is the mean over all."
        if n > 1
        else "Training plays this variant of the task.",
        _visible(task),
        "Their rewards and the meanings of their observations may differ: what follows tells those of variant 0."
        if mixed
        else "",
        "The policy is also tested on variants that are not listed here." if task.held_out else "",
    ]
    lines = [f"# {line}" for text in told for line in textwrap.wrap(text, WIDTH - 2)]
    if reveal == "bare":
        return {VARIANTS: "\n".join([*lines, f"{n} variant{'' if n == 1 else 's'}"])}
    for i, variant in enumerate(task.family[:LISTED]):
        open_: Variant = variant if reveal in {"source", "named"} else replace(variant, env_id="")
        about = documentation_of(kinds[i])["description"].text if mixed and reveal != "anonymous" else ""
        lines.append(f"{i}: {open_.name}{f': {cut(about, LONGEST)}' if about else ''}")
    lines += [f"... {n - LISTED} more"] if n > LISTED else []
    return {VARIANTS: "\n".join(lines)}


def _visible(task: Task) -> str:
    if task.show_variant:
        return 'obs["variant"] says which one it is.'
    if len(task.family) == 1:
        return "Nothing says how others differ from it but what happens in them."
    return "Which one it is may show in the observation, or only in what happens."


def without_number(observed: Observed) -> Observed:
    """The observations of a family that shows the number of the variant, without it."""
    inner = [
        replace(
            step,
            observation=step.observation["observation"],
            next_observation=step.next_observation["observation"],
        )
        for step in observed.steps
    ]
    return replace(observed, steps=inner)


def with_number(parts: Parts, env: ShownVariant) -> Parts:
    """The parts of a description of what is beside the number of the variant, with that number."""
    moved = [
        replace(item, path=re.sub(r"\bobs\b", 'obs["observation"]', item.path)) for item in parts.observation
    ]
    last = env.observation_space["variant"].n - 1  # type: ignore[index] # a Dict, see there
    shown = Field(
        "variant",
        'obs["variant"]',
        spans=[(0, last)],
        whole=True,
        meaning="number of the variant; see VARIANTS",
    )
    told = 'In `reward`, obs and next_obs are what is at "observation".' if parts.code else ""
    return replace(
        parts,
        observation=[*moved, shown],
        observation_note="\n".join(filter(None, [parts.observation_note, told])),
        observation_form=form_of(env.observation_space),
    )
