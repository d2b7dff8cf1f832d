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
    from promptpo.envs.task import Reveal, Task
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
    n, mixed = len(task.family), len({variant.env_id for variant in task.family}) > 1
    told = [
        f"One policy for {n} variants of this task, one an episode by turns; the score is the mean over all."
    ]
    if task.show_variant:
        told.append('obs["variant"] says which one it is.')
    else:
        told.append("Which one it is may show in the observation, or only in what happens.")
    if mixed:
        told.append("Their rewards and what they observe may differ: what follows tells those of variant 0.")
    if task.held_out:
        told.append("The policy is also tested on variants that are not listed here.")
    lines = [f"# {line}" for text in told for line in textwrap.wrap(text, WIDTH - 2)]
    shown = () if reveal == "bare" else task.family[:LISTED]
    for i, (variant, one) in enumerate(zip(shown, family.everyone(), strict=False)):
        if reveal == "anonymous":
            lines.append(f"{i}: {replace(variant, env_id='').name}")
        else:
            about = documentation_of(type(one.unwrapped))["description"].text if mixed else ""
            lines.append(f"{i}: {variant.name}{about and f': {cut(about, LONGEST)}'}")
    lines += [f"{n} in all"] if n > len(shown) else []
    return {VARIANTS: "\n".join(lines)}


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
