"""``promptpo baseline llm-policy`` and ``promptpo lab llm-study``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from promptpo.cli.arguments import AsJson, EnvId, EnvKwargs, Horizon, Quiet, json_object
from promptpo.cli.groups import grouped
from promptpo.cli.terminal import print_json
from promptpo.errors import UsageError
from promptpo_baselines.cli import run_training
from promptpo_baselines.flags import (
    Device,
    LearningFlags,
    MaxSeconds,
    Out,
    PlaceFlags,
    Seed,
    Steps,
    TestEpisodes,
    ValidationEpisodes,
)

if TYPE_CHECKING:
    from promptpo_baselines.settings import TrainingSettings

NETWORKS = ("pretrained", "random", "mlp")


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


@dataclass(frozen=True, kw_only=True)
class StudyLearningFlags(BackboneLearningFlags):
    """The same for several networks and seeds."""

    steps: Steps = 20_000


@dataclass(frozen=True, kw_only=True)
class StudyFlags:
    """What is compared, and where it is kept."""

    networks: Annotated[
        str, typer.Option(help="What to compare, separated by commas: pretrained, random, mlp.")
    ] = "pretrained,random,mlp"
    seeds: Annotated[
        str,
        typer.Option(
            metavar="N|SEED,SEED",
            help="Runs of each network, from seed 0 on; or the seeds, such as 543,100; one alone as 543,",
        ),
    ] = "3"
    out: Out = Path("runs/llm-study")


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
    see --network, and promptpo lab llm-study, which trains all three.
    """
    settings = design.settings(env_id, text, learning, seed=seed, network=network)
    run_training(settings, place, max_seconds)


@grouped
def llm_study(
    env_id: EnvId,
    design: DesignFlags,
    text: TextFlags,
    learning: StudyLearningFlags,
    study: StudyFlags,
    max_seconds: MaxSeconds = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare a pretrained model with a random one and an MLP.

    Same budget, same seeds; the random one is the same model before any training.

    Complete runs in --out are not run again, so the same command goes on. Writes study.json, episodes.csv and
    episodes.png.
    """
    from promptpo_baselines.llm_policy.study import run_study, table
    from promptpo_baselines.progress import choose_display

    chosen = [name.strip() for name in study.networks.split(",")]
    for name in chosen:
        if name not in NETWORKS:
            raise UsageError(f"--networks takes {', '.join(NETWORKS)}, separated by commas, not {name!r}.")
    numbered = _seeds(study.seeds)
    base = design.settings(env_id, text, learning, seed=0)
    with choose_display(quiet=quiet or as_json) as display:
        found = run_study(
            base,
            Path(study.out or "runs/llm-study"),
            networks=chosen,
            seeds=numbered,
            display=display,
            max_seconds=max_seconds,
        )
    if found is None:
        if as_json:
            print_json({"run": str(study.out), "stop_reason": "paused"})
        else:
            print(f"paused; the same command goes on; {study.out}")
    elif as_json:
        print_json(found)
    else:
        print(table(found))


def _seeds(text: str) -> list[int]:
    """The seeds that ``--seeds`` names.

    Raises:
        UsageError: It names none.
    """
    parts = [part.strip() for part in text.split(",")]
    named = len(parts) > 1
    parts = parts[:-1] if named and not parts[-1] else parts  # "543,": one seed
    numbers = [int(part) for part in parts if part.isdecimal()]
    wrong = len(numbers) < len(parts) or len(set(numbers)) < len(numbers) or (numbers == [0] and not named)
    if wrong:
        raise UsageError(f"--seeds takes a number of runs, or different seeds such as 543,100, not {text!r}.")
    return numbers if named else list(range(numbers[0]))
