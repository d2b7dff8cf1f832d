"""``promptpo baseline llm-policy`` and ``llm-study``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from baselines.cli import (
    Device,
    EvalEvery,
    MaxSeconds,
    NEnvs,
    Out,
    Resume,
    Rows,
    Seed,
    Steps,
    TestEpisodes,
    Threads,
    ValidationEpisodes,
    run_training,
)
from promptpo.cli.arguments import AsJson, EnvId, EnvKwargs, Horizon, Quiet, json_object
from promptpo.cli.terminal import print_json
from promptpo.errors import UsageError

NETWORKS = ("pretrained", "random", "mlp")
AlgorithmName = Literal["trpo", "ppo"]
Algorithm = Annotated[AlgorithmName, typer.Option(help="Who trains it.")]
Backbone = Annotated[str, typer.Option(help="smollm2, a Hugging Face id, a directory, or a .gguf file.")]
Reading = Annotated[
    str,
    typer.Option(
        help="text: states go through the tokenizer; embedding: one learned vector for each number."
    ),
]
Numbers = Annotated[
    str, typer.Option(help="How text writes numbers: integer (tenths), decimal (two) or raw.")
]
State = Annotated[str, typer.Option(help="normalized by running statistics, or raw.")]
Tune = Annotated[str, typer.Option(help="Of the backbone: frozen, lora (adapters) or full.")]
Layers = Annotated[int | None, typer.Option(min=1, help="Use only the first layers of the backbone.")]
Pooling = Annotated[
    str, typer.Option(help="Features are the mean of the last layer's vectors, or the last one.")
]
LoraRank = Annotated[int, typer.Option(min=1, help="Rank of the adapters.")]
Dtype = Annotated[
    str, typer.Option(help="float32, or bfloat16 for a frozen backbone: faster where the processor has it.")
]


def llm_policy(
    env_id: EnvId,
    algorithm: Algorithm = "trpo",
    backbone: Backbone = "smollm2",
    network: Annotated[
        str,
        typer.Option(
            help="pretrained; or a control: random (the same architecture, random weights) or mlp (as many trainable parameters)."
        ),
    ] = "pretrained",
    tune: Tune = "frozen",
    reading: Reading = "text",
    numbers: Numbers = "integer",
    state: State = "normalized",
    layers: Layers = None,
    pooling: Pooling = "mean",
    lora_rank: LoraRank = 8,
    dtype: Dtype = "float32",
    steps: Steps = 100_000,
    seed: Seed = 0,
    hyperparams: Rows = "zoo",
    n_envs: NEnvs = None,
    env_kwargs: EnvKwargs = "{}",
    max_episode_steps: Horizon = None,
    eval_every: EvalEvery = None,
    validation_episodes: ValidationEpisodes = 5,
    test_episodes: TestEpisodes = 20,
    threads: Threads = 1,
    device: Device = "auto",
    max_seconds: MaxSeconds = None,
    out: Out = None,
    resume: Resume = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train a language model as the policy network.

    State as text, tokenizer, model, two layers of 64, action.

    The critic is a separate network that reads the state. Two controls tell what the model contributes:
    see --network, and promptpo baseline llm-study, which trains all three.
    """
    settings = _settings(
        env_id,
        json_object(env_kwargs, "--env-kwargs"),
        max_episode_steps,
        algorithm=algorithm,
        design={
            "backbone": backbone,
            "network": network,
            "tune": tune,
            "reading": reading,
            "numbers": numbers,
            "state": state,
            "layers": layers,
            "pooling": pooling,
            "lora_rank": lora_rank,
            "dtype": dtype,
            "seed": seed,
        },
        steps=steps,
        seed=seed,
        hyperparameters=hyperparams,
        n_envs=n_envs,
        eval_every=eval_every,
        validation_episodes=validation_episodes,
        test_episodes=test_episodes,
        threads=threads,
        device=device,
    )
    run_training(settings, out, resume=resume, quiet=quiet, as_json=as_json, max_seconds=max_seconds)


def llm_study(
    env_id: EnvId,
    algorithm: Algorithm = "trpo",
    backbone: Backbone = "smollm2",
    networks: Annotated[
        str, typer.Option(help="What to compare, separated by commas: pretrained, random, mlp.")
    ] = "pretrained,random,mlp",
    tune: Tune = "frozen",
    reading: Reading = "text",
    numbers: Numbers = "integer",
    state: State = "normalized",
    layers: Layers = None,
    pooling: Pooling = "mean",
    lora_rank: LoraRank = 8,
    dtype: Dtype = "float32",
    steps: Steps = 20_000,
    seeds: Annotated[
        str,
        typer.Option(
            metavar="N|SEED,SEED",
            help="Runs of each network, from seed 0 on; or the seeds, such as 543,100; one alone as 543,",
        ),
    ] = "3",
    hyperparams: Rows = "zoo",
    n_envs: NEnvs = None,
    env_kwargs: EnvKwargs = "{}",
    max_episode_steps: Horizon = None,
    eval_every: EvalEvery = None,
    validation_episodes: ValidationEpisodes = 5,
    test_episodes: TestEpisodes = 20,
    threads: Threads = 1,
    device: Device = "auto",
    max_seconds: MaxSeconds = None,
    out: Out = Path("runs/llm-study"),
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare a pretrained model with a random one and an MLP.

    Same budget, same seeds; the random one is the same model before any training.

    Complete runs in --out are not run again, so the same command goes on. Writes study.json, episodes.csv and
    episodes.png.
    """
    from baselines.llm_policy.study import run_study, table
    from baselines.progress import choose_display

    chosen = [name.strip() for name in networks.split(",")]
    for name in chosen:
        if name not in NETWORKS:
            raise UsageError(f"--networks takes {', '.join(NETWORKS)}, separated by commas, not {name!r}.")
    numbered = _seeds(seeds)
    base = _settings(
        env_id,
        json_object(env_kwargs, "--env-kwargs"),
        max_episode_steps,
        algorithm=algorithm,
        design={
            "backbone": backbone,
            "tune": tune,
            "reading": reading,
            "numbers": numbers,
            "state": state,
            "layers": layers,
            "pooling": pooling,
            "lora_rank": lora_rank,
            "dtype": dtype,
        },
        steps=steps,
        seed=0,
        hyperparameters=hyperparams,
        n_envs=n_envs,
        eval_every=eval_every,
        validation_episodes=validation_episodes,
        test_episodes=test_episodes,
        threads=threads,
        device=device,
    )
    with choose_display(quiet=quiet or as_json) as display:
        study = run_study(
            base,
            Path(out or "runs/llm-study"),
            networks=chosen,
            seeds=numbered,
            display=display,
            max_seconds=max_seconds,
        )
    if study is None:
        if as_json:
            print_json({"run": str(out), "stop_reason": "paused"})
        else:
            print(f"paused; the same command goes on; {out}")
    elif as_json:
        print_json(study)
    else:
        print(table(study))


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


def _settings(
    env_id: str,
    env_kwargs: dict[str, Any],
    max_episode_steps: int | None,
    *,
    algorithm: AlgorithmName,
    design: dict[str, Any],
    **options: Any,
) -> Any:
    from baselines.extras import LANGUAGE_POLICY, require
    from baselines.llm_policy.design import Design
    from baselines.settings import TrainingSettings
    from promptpo.envs.task import Task

    require(LANGUAGE_POLICY, what="a language model as the policy network", extra="llm-policy")
    return TrainingSettings(
        algorithm=algorithm,
        task=Task(env_id, env_kwargs, max_episode_steps),
        language=Design.from_data(design).as_data(),
        **options,
    )
