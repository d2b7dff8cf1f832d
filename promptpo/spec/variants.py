"""Describe a family of environments in a spec: its variants, and whether the policy sees the current one."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.envs.family import family_of
from promptpo.envs.foreign import AnyEnv
from promptpo.spec.documentation import summary_of
from promptpo.spec.render import LINE_CHARS

if TYPE_CHECKING:
    from promptpo.envs.task import Reveal, Task

VARIANTS = "VARIANTS"
"""Name of the block."""

MAX_LISTED = 40
"""Number of variants listed."""


def variants_of(env: AnyEnv, task: Task, reveal: Reveal) -> dict[str, str]:
    """Return the block that lists the variants of a family, by name; empty for a single environment."""
    family = family_of(env)
    if family is None:
        return {}
    n, mixed = len(task.family), len({variant.env_id for variant in task.family}) > 1
    notes = [
        f"One policy for {n} variants of this task, one per episode in turn; the score is the mean over all."
    ]
    if task.show_variant:
        notes.append('obs["variant"] says which one it is.')
    else:
        notes.append("Which one it is may show in the observation, or only in how the episode unfolds.")
    if mixed:
        notes.append("Their rewards and observations may differ; the following describes variant 0.")
    if task.held_out:
        notes.append("The policy is also tested on variants that are not listed here.")
    lines = [f"# {line}" for text in notes for line in textwrap.wrap(text, LINE_CHARS - 2)]
    shown = () if reveal == "bare" else task.family[:MAX_LISTED]
    for i, (variant, member) in enumerate(zip(shown, family.all_members(), strict=False)):
        if reveal == "anonymous":
            lines.append(f"{i}: {replace(variant, env_id='').name}")
        else:
            about = summary_of(type(member.unwrapped)) if mixed else ""
            lines.append(f"{i}: {variant.name}{about and f': {about}'}")
    lines += [f"{n} in all"] if n > len(shown) else []
    return {VARIANTS: "\n".join(lines)}
