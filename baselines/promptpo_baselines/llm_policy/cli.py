"""``promptpo baseline llm-policy``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from promptpo.cli.arguments import EnvId, EnvKwargs, Horizon, json_object
from promptpo.cli.groups import grouped
from promptpo_baselines.cli import run_training
from promptpo_baselines.flags import (
    Device,
    LearningFlags,
    MaxSeconds,
    PlaceFlags,
    Seed,
    TestEpisodes,
    ValidationEpisodes,
)

if TYPE_CHECKING:
    from promptpo_baselines.settings import TrainingSettings


@dataclass(frozen=True, kw_only=True)
class TextFlags:
    """The task, as far as a language model can be its policy."""

    env_kwargs: EnvKwargs = "{}"
    max_episode_steps: Horizon = None


@dataclass(frozen=True, kw_only=True)
class DesignFlags:
    """Who trains which language model, and how it reads."""

    algorithm: Annotated[Literal["trpo", "ppo"], typer.Option(help="Who trains it.")] = "trpo"
    backbone: Annotated[
        str, typer.Option(help="smollm2, a Hugging Face id, a directory, or a .gguf file.")
    ] = "smollm2"
    tune: Annotated[str, typer.Option(help="Of the backbone: frozen, lora (adapters) or full.")] = "frozen"
    reading: Annotated[
        str,
        typer.Option(
            help="text: states go through the tokenizer; embedding: one learned vector for each number."
        ),
    ] = "text"
    numbers: Annotated[
        str, typer.Option(help="How text writes numbers: integer (tenths), decimal (two) or raw.")
    ] = "integer"
    state: Annotated[str, typer.Option(help="normalized by running statistics, or raw.")] = "normalized"
    layers: Annotated[int | None, typer.Option(min=1, help="Use only the first layers of the backbone.")] = (
        None
    )
    pooling: Annotated[
        str, typer.Option(help="Features are the mean of the last layer's vectors, or the last one.")
    ] = "mean"
    lora_rank: Annotated[int, typer.Option(min=1, help="Rank of the adapters.")] = 8
    dtype: Annotated[
        str,
        typer.Option(help="float32, or bfloat16 for a frozen backbone: faster where the processor has it."),
    ] = "float32"
    matmul: Annotated[
        str,
        typer.Option(
            help="What products of matrices are computed in: float32, tf32 or bfloat16, faster where the processor has it."
        ),
    ] = "float32"

    def settings(
        self, env_id: str, text: TextFlags, learning: LearningFlags, *, seed: int, **more: Any
    ) -> TrainingSettings:
        """What they ask for.

        Args:
            env_id: The environment.
            text: How it is made.
            learning: How the model is trained.
            seed: The run's, and that of random weights.
            more: Other fields of the design.

        Raises:
            UsageError: They do not fit together.
            MissingExtraError: A package is missing.
        """
        from promptpo.envs.task import Task
        from promptpo_baselines.extras import LANGUAGE_POLICY, require
        from promptpo_baselines.llm_policy.design import Design

        env_kwargs = json_object(text.env_kwargs, "--env-kwargs")
        require(LANGUAGE_POLICY, what="a language model as the policy network", extra="llm-policy")
        chosen = {name: value for name, value in asdict(self).items() if name != "algorithm"}
        return learning.settings(
            self.algorithm,
            Task(env_id, env_kwargs, text.max_episode_steps),
            seed=seed,
            language=Design.from_data({**chosen, **more, "seed": seed}).as_data(),
        )


@dataclass(frozen=True, kw_only=True)
class BackboneLearningFlags(LearningFlags):
    """How it is trained: a step costs more than with small networks, so less of everything."""

    validation_episodes: ValidationEpisodes = 5
    test_episodes: TestEpisodes = 20
    device: Device = "auto"


@grouped
def llm_policy(
    env_id: EnvId,
    design: DesignFlags,
    text: TextFlags,
    learning: BackboneLearningFlags,
    place: PlaceFlags,
    network: Annotated[
        str,
        typer.Option(
            help="pretrained; or a control: random (the same architecture, random weights) or mlp (as many trainable parameters)."
        ),
    ] = "pretrained",
    seed: Seed = 0,
    max_seconds: MaxSeconds = None,
) -> None:
    """Train a language model as the policy network.

    State as text, tokenizer, model, two layers of 64, action.

    The critic is a separate network that reads the state. Two controls tell what the model contributes:
    see --network.
    """
    settings = design.settings(env_id, text, learning, seed=seed, network=network)
    run_training(settings, place, max_seconds)
