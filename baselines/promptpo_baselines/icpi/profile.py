"""How the agent prompts and plans, as flags, and the two settings of them that have names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from promptpo.errors import UsageError

KINDS = ("done", "reward", "next", "policy")
"""What a completion is asked to be: termination, reward, next observation, or action."""
CHARACTERS_PER_TOKEN = 3.0
"""Of the domains' text, by the tokenizers of code models; used where an engine counts no tokens."""
ATTEMPTS = 3
"""Tries at a question before its rollout ends, or its action becomes random."""
WARM_UP = 3
"""Episodes after which half of the decisions are the model's."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How the agent prompts and plans."""

    name: Annotated[
        Literal["paper", "fast"],
        typer.Option("--profile", help="paper (one question at a time) or fast (batches, frozen examples)."),
    ] = "fast"
    prompt_tokens: Annotated[
        int, typer.Option(min=50, help="Budget of a prompt; whole examples are left out.")
    ] = 3800
    context: Annotated[int, typer.Option(min=1, help="Latest episodes that the policy prompt shows.")] = 8
    hint: Annotated[bool, typer.Option("--hint/--no-hint", help="States with comparisons.")] = True
    balance: Annotated[
        bool, typer.Option("--balance/--no-balance", help="Rare answers are repeated in prompts.")
    ] = True
    constrain: Annotated[
        bool,
        typer.Option(
            "--constraint/--no-constraint", help="Examples have the question's action and termination."
        ),
    ] = True
    randomize: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Answer done, reward, next or policy at random; repeatable."),
    ] = None

    def __post_init__(self) -> None:
        for kind in self.randomize or ():
            if kind not in KINDS:
                raise UsageError(f"--randomize takes {', '.join(KINDS)}, not {kind!r}.")

    @property
    def fast(self) -> bool:
        """Whether the rollouts of all actions advance together, as one batch.

        Termination, both rewards and next state are then asked at once, before the termination is known, so that some
        answers are thrown away. Engines that can are held to the valid answers, where these are a closed set. The
        examples of a prompt stay the same within an episode, so that prefixes can be cached; those of the policy within
        one decision, because rollouts that all follow the same few trajectories were measurably worse on the maze.
        """
        return self.name == "fast"


PROFILES: Mapping[str, Profile] = {"paper": Profile(name="paper"), "fast": Profile()}
