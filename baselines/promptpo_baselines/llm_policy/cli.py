"""``promptpo baseline llm-policy``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import typer

from promptpo.cli.arguments import EnvId
from promptpo.cli.groups import expand_groups
from promptpo.cli.run_flags import TestedFlags
from promptpo_baselines.extras import LANGUAGE_POLICY, require
from promptpo_baselines.flags import (
    Device,
    MaxSeconds,
    PlaceFlags,
    TestEpisodes,
    TrainingFlags,
    ValidationEpisodes,
)
from promptpo_baselines.llm_policy.design import Design, DesignFlags
from promptpo_baselines.training_command import run_training


@dataclass(frozen=True, kw_only=True)
class BackboneLearningFlags(TrainingFlags):
    """Flags of training; a step costs more than with small networks, so defaults are smaller."""

    validation_episodes: ValidationEpisodes = 5
    test_episodes: TestEpisodes = 20
    device: Device = "auto"


@expand_groups
def llm_policy(
    env_id: EnvId,
    design: DesignFlags,
    task: TestedFlags,
    learning: BackboneLearningFlags,
    place: PlaceFlags,
    algorithm: Annotated[Literal["trpo", "ppo"], typer.Option(help="Algorithm that trains it.")] = "trpo",
    max_seconds: MaxSeconds = None,
) -> None:
    """Train a language model as the policy network.

    The state, written as text, passes through tokenizer, model and two layers of 64 units, which output the action.

    The critic is a separate network that reads the state. Two controls show what the model contributes:
    see --network.
    """
    from promptpo_baselines.settings import TrainingSettings

    language = asdict(Design(**vars(design), seed=learning.seed))
    require(LANGUAGE_POLICY, what="a language model as the policy network", extra="llm-policy")
    settings = TrainingSettings(algorithm, task.task(env_id), language=language, **vars(learning))
    run_training(settings, place, max_seconds)
