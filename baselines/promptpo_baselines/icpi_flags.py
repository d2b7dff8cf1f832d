"""The flags of ``promptpo baseline icpi``. Importing this imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import typer

from promptpo.cli.arguments import EnvKwargs, Horizon
from promptpo.errors import UsageError

Kind = Literal["done", "reward", "next", "policy"]
"""What a completion predicts: termination, reward, next observation, or action."""

Method = Literal["icpi", "no-argmax", "tabular-q", "matching", "random"]
WITH_ENGINE: frozenset[Method] = frozenset({"icpi", "no-argmax"})
"""Methods that query a language model."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Flags of how the agent prompts and plans."""

    name: Annotated[
        Literal["paper", "fast"],
        typer.Option("--profile", help="paper (one question at a time) or fast (batches, frozen examples)."),
    ] = "fast"
    prompt_tokens: Annotated[
        int, typer.Option(min=50, help="Token limit of a prompt; whole examples are left out to meet it.")
    ] = 3800
    context: Annotated[int, typer.Option(min=1, help="Number of latest episodes in the policy prompt.")] = 8
    hint: Annotated[bool, typer.Option("--hint/--no-hint", help="Add comparisons to states.")] = True
    balance: Annotated[
        bool, typer.Option("--balance/--no-balance", help="Repeat rare answers in prompts.")
    ] = True
    constrain: Annotated[
        bool,
        typer.Option(
            "--constraint/--no-constraint",
            help="Show only examples with the action and termination in question.",
        ),
    ] = True
    randomize: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Answer done, reward, next or policy at random; repeatable."),
    ] = None

    def __post_init__(self) -> None:
        for kind in self.randomize or ():
            if kind not in get_args(Kind):
                raise UsageError(f"--randomize takes {', '.join(get_args(Kind))}, not {kind!r}.")

    @property
    def fast(self) -> bool:
        """Whether the rollouts of all actions advance together, as one batch.

        Termination, both rewards and the next state are then requested at once, before the termination is known, so
        some answers are discarded. Engines that can are constrained to the valid answers, if these are a closed set.
        The examples in prompts stay fixed within an episode, so that prefixes can be cached; those of the policy
        within one decision: with rollouts that all follow the same few trajectories, the maze went measurably worse.
        """
        return self.name == "fast"


@dataclass(frozen=True, kw_only=True)
class IcpiFlags:
    """Flags for the agent and the length of its run."""

    method: Annotated[Method, typer.Option(help="What acts.")] = "icpi"
    steps: Annotated[
        int | None,
        typer.Option(
            "--max-steps",
            min=1,
            help="Environment steps for everything except the final test; by default those of the paper's figure.",
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0
    test_episodes: Annotated[int, typer.Option(min=0, help="Held-out episodes, played without learning.")] = (
        20
    )
    bootstrap_terminal: Annotated[
        bool,
        typer.Option(
            "--bootstrap-terminal", help="Bootstrap at the end of episodes, as the released Tabular Q does."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class SettingFlags:
    """Flags for the domain."""

    env_kwargs: EnvKwargs = "{}"
    max_episode_steps: Horizon = None
    gamma: Annotated[float | None, typer.Option(min=0, max=1, help="Discount inside imagined rollouts.")] = (
        None
    )
    max_rollout: Annotated[int | None, typer.Option(min=1, help="Longest imagined rollout.")] = None
    decimals: Annotated[
        int, typer.Option(min=0, max=6, help="Number of decimals of observations that are not integers.")
    ] = 2
