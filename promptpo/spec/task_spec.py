"""A task as a run knows it: its spaces, how long episodes are, and the text that a language model sees."""

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
        observation_space: What the policy sees.
        action_space: What it returns.
        horizon: Longest episode in steps; None where nothing bounds it.
        horizon_source: Who bounds it: "user" (--max-episode-steps), "time limit" (registered), "environment"
            (an attribute of it), "observed" (the common length of episodes), "spec file" (the user's) or "none".
        reward_threshold: The return from which the registry calls the task solved.
        reports_success: Whether ``info`` says if an episode succeeded.
        sample_steps: Environment steps spent on observing.
        sample_rate: Of these in a second; 0 where it is not known.
        sample_length: Steps of an episode of random actions that nothing bounds, where one was seen to end; else mean
            steps of the episodes observed, of which long ones were cut.
        warnings: What is wrong with the environment, one sentence each.
        firsts: The first observations of a few episodes.
        seen: Some observations, where they are small; they say where numbers usually lie.
        one_start: Whether the first ones are all the same.
        one_episode: Whether seeds change nothing: the same actions give the same episode.
        repeats: Whether a seed decides an episode, so that policies can be compared on the same ones.
        info: Numeric entries of ``info`` with the least and the most that was observed.
        first_frames: Of observations that are pictures: captions and PNG files, for models that see.
        cut: After how many steps a run cuts episodes that nothing bounds, once that is decided.
        series: Recorded data that all episodes replay, in words.
        evidence: The source that a model may be shown once, and steps to hold its answer against.
        revealed: How much the text tells: "named" where "source" was wanted and none can be read.
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
        # prompts quote the text in a fence, which an example in an author's docstring would close
        object.__setattr__(self, "text", self.text.replace("```", "'''"))


def with_hint(spec: TaskSpec, hint: str) -> TaskSpec:
    """The spec with what the user says about the task at its end; the same one where they say nothing."""
    if not hint.strip():
        return spec
    lines = "\n".join(f"# {line}".rstrip() for line in hint.strip().splitlines())
    return replace(spec, text=f"{spec.text.rstrip()}\n\n\n# What the user says about this task:\n{lines}\n")


CUT = "this run cuts longer episodes there"


def with_cut(spec: TaskSpec, steps: int) -> TaskSpec:
    """The spec with the length at which a run cuts episodes that nothing else bounds, where a horizon stands."""
    if spec.horizon is not None:
        return spec
    line = rf'("max_steps": )(?:None,|\d+,  # {CUT})'
    text, found = re.subn(line, rf"\g<1>{steps},  # {CUT}", spec.text, count=1)
    if not found:
        text = re.sub(r"\n+# This run cuts episodes after [\d,]+ steps\.\n", "\n", spec.text)
        text = f"{text.rstrip()}\n\n\n# This run cuts episodes after {steps:,} steps.\n"
    return replace(spec, text=text, cut=steps)
