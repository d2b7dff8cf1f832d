"""The description of a task: its spaces, the length of episodes, and the text that a language model sees."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptpo.envs.spaces import AnySpace
    from promptpo.envs.task import Reveal
    from promptpo.spec.facts import HorizonSource
    from promptpo.spec.formalised import SourceEvidence


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task as a language model sees it.

    Attributes:
        text: Valid Python that describes observation, action, reward and episode.
        observation_space: The policy's inputs.
        action_space: The policy's outputs.
        horizon: Longest episode in steps; None if unbounded.
        horizon_source: The origin of the horizon: "user" (--max-episode-steps), "time limit" (registered),
            "environment" (an attribute), "observed" (the common length of truncated episodes), "spec file" or "none".
        reward_threshold: The mean return from which the registry calls the task solved.
        reports_success: Whether ``info`` says if an episode succeeded.
        sample_steps: Environment steps spent on observing.
        sample_rate: Environment steps per second; 0 if unknown.
        sample_length: Mean steps of full episodes of random actions if some were played and ended; else mean steps of
            the observed episodes, long ones cut.
        warnings: Problems of the environment, one sentence each.
        firsts: The initial observations of a few episodes.
        seen: Sample observations if they are small; they show the usual range of values.
        one_start: Whether all initial observations are the same.
        one_episode: Whether seeds change nothing: the same actions always give the same episode.
        repeats: Whether a seed determines an episode, so that policies can be compared on the same ones.
        info: Numeric entries of ``info`` with their smallest and largest observed values.
        first_frames: Captions and PNG files of image observations, for models with vision.
        cut: Steps after which the run cuts unbounded episodes; None until decided.
        series: Descriptions of recorded data that all episodes replay.
        evidence: The source that a model may be shown once, and steps to check its answer against.
        revealed: How much the text reveals; "named" if "source" was requested but none can be read.
    """

    text: str
    observation_space: AnySpace
    action_space: AnySpace
    horizon: int | None
    reward_threshold: float | None
    reports_success: bool
    horizon_source: HorizonSource = "none"
    sample_steps: int = 0
    sample_rate: float = 0.0
    sample_length: float = math.inf
    warnings: tuple[str, ...] = ()
    firsts: tuple[Any, ...] = ()
    seen: tuple[Any, ...] = ()
    one_start: bool = False
    one_episode: bool = False
    repeats: bool = True
    info: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    first_frames: tuple[tuple[str, bytes], ...] = ()
    cut: int | None = None
    revealed: Reveal = "named"
    series: tuple[str, ...] = ()
    evidence: SourceEvidence | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        # prompts put the text in a fenced block, which a fence in the author's docstring would close
        object.__setattr__(self, "text", self.text.replace("```", "'''"))


def with_hint(spec: TaskSpec, hint: str) -> TaskSpec:
    """Append the user's hint to a spec; return it unchanged if the hint is blank."""
    if not hint.strip():
        return spec
    lines = "\n".join(f"# {line}".rstrip() for line in hint.strip().splitlines())
    return replace(spec, text=f"{spec.text.rstrip()}\n\n\n# What the user says about this task:\n{lines}\n")


CUT = "this run cuts longer episodes there"


def with_cut(spec: TaskSpec, steps: int) -> TaskSpec:
    """Set the length at which a run cuts episodes, unless the spec has a horizon; return the new spec."""
    if spec.horizon is not None:
        return spec
    line = rf'("max_steps": )(?:None,|\d+,  # {CUT})'
    text, found = re.subn(line, rf"\g<1>{steps},  # {CUT}", spec.text, count=1)
    if not found:
        text = re.sub(r"\n+# This run cuts episodes after [\d,]+ steps\.\n", "\n", spec.text)
        text = f"{text.rstrip()}\n\n\n# This run cuts episodes after {steps:,} steps.\n"
    return replace(spec, text=text, cut=steps)
