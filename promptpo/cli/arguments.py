"""Arguments and flags that several commands share, so that they are the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from promptpo.cli.terminal import print_json, reserve_for_json, standard_output
from promptpo.errors import UsageError
from promptpo_sandbox.text import clean

if TYPE_CHECKING:
    from promptpo.envs.task import Task


def env_ids(incomplete: str) -> list[str]:
    """For shell completion: the ids that Gymnasium knows."""
    import gymnasium

    return sorted(name for name in gymnasium.registry if name.startswith(incomplete))


def runs(incomplete: str) -> list[str]:
    """For shell completion: run directories here and under ``runs/``, the newest first."""
    folders = [
        path.parent for pattern in ("*/config.toml", "runs/*/config.toml") for path in Path().glob(pattern)
    ]
    folders.sort(key=lambda folder: -folder.stat().st_mtime)
    return [str(folder) for folder in folders if str(folder).startswith(incomplete)]


EnvId = Annotated[
    str,
    typer.Argument(
        metavar="ENV_ID",
        help="Environment, as Gymnasium writes it: CartPole-v1, my_module:My/Env-v0.",
        autocompletion=env_ids,
    ),
]
EnvOption = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="ENV_ID",
        help="Environment; a run and an exported file say it themselves.",
        autocompletion=env_ids,
    ),
]
RunDir = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.", autocompletion=runs)]
CandidateName = Annotated[
    str | None,
    typer.Argument(
        metavar="CANDIDATE",
        help="As show lists them, for example r2c3, or an experiment, as p0.1; best is the best.",
    ),
]
CandidateOption = Annotated[
    str | None, typer.Option("--candidate", metavar="CANDIDATE", help="The same as the argument.")
]
PolicyFile = Annotated[
    Path,
    typer.Argument(
        metavar="POLICY",
        help="An exported file, a bare policy module, or a run directory, which means its best.",
    ),
]
EnvKwargs = Annotated[
    str, typer.Option(metavar="JSON", help="Keyword arguments for gymnasium.make, as a JSON object.")
]
ManyEnvKwargs = Annotated[
    list[str] | None,
    typer.Option(
        "--env-kwargs",
        metavar="JSON",
        help="Keyword arguments for the environment, as a JSON object; given several times, one policy is to play all of these variants.",
    ),
]
Wrappers = Annotated[
    list[str] | None,
    typer.Option(
        "--wrapper",
        metavar="NAME",
        help="Put this wrapper around the environment: module:Wrapper, file.py:Wrapper or one of gymnasium.wrappers, with arguments as 'module:Wrapper{\"n\": 4}'; repeatable, the first is innermost.",
    ),
]
TasksFile = Annotated[
    Path | None,
    typer.Option("--tasks", metavar="FILE", help="A TOML file with the variants that one policy is to play."),
]
ShowVariant = Annotated[
    bool,
    typer.Option(
        "--show-variant",
        help='Observations become {"observation": ..., "variant": n}, n the number of the variant.',
    ),
]
RewardFile = Annotated[
    Path | None,
    typer.Option(
        "--reward",
        metavar="FILE.py",
        help="What steps earn, instead of the environment's own reward: a class Reward with step(obs, action, next_obs, env_reward, info), run in the sandbox.",
    ),
]
Horizon = Annotated[
    int | None, typer.Option(min=1, help="Longest episode in steps; the environment's own when not given.")
]
FirstSeed = Annotated[int, typer.Option("--seed", help="Seed of the first episode; the next ones count up.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        callback=reserve_for_json,
        help="Print the result as JSON on standard output; progress goes nowhere.",
    ),
]
Weaker = Annotated[
    bool, typer.Option("--allow-weaker-sandbox", help="Run even where the system lacks sandbox layers.")
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Do it although the run was not made here; it imports and starts what the run names."
    ),
]
Jobs = Annotated[int, typer.Option(min=0, help="Rollout processes; 0 means one per core.")]
ModelPrice = Annotated[
    str | None,
    typer.Option(
        metavar="IN,OUT",
        help="US dollars per million input and output tokens of the model; looked up when not given.",
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write; standard output when not given.")
]
Film = Annotated[
    bool, typer.Option("--film/--no-film", help="Run one episode more and show it in report.html.")
]


Track = Annotated[
    list[str] | None,
    typer.Option(
        "--track",
        metavar="WHAT[:WHERE]",
        help="Also send to tensorboard:FOLDER, wandb:PROJECT, mlflow:URI or monitor:FILE; repeatable.",
    ),
]


def json_object(text: str, flag: str) -> dict[str, Any]:
    """The value of a flag that takes a JSON object.

    Raises:
        UsageError: It is not one.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{flag} is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise UsageError(f'{flag} must be a JSON object such as \'{{"map_name": "8x8"}}\', not {text}.')
    return value


HeldOutKwargs = Annotated[
    list[str] | None,
    typer.Option(metavar="JSON", help="Keyword arguments of a variant that only the test plays; repeatable."),
]


def task_from_flags(
    env_id: str,
    env_kwargs: Sequence[str] | str | None,
    max_episode_steps: int | None,
    *,
    wrappers: Sequence[str] | None = None,
    tasks: Path | None = None,
    held_out_kwargs: Sequence[str] | None = None,
    show_variant: bool = False,
    reward: Path | None = None,
) -> Task:
    """The task that flags describe.

    ``--env-kwargs`` given once are the environment's arguments. Given several times, or with held-out ones, each is
    a variant of its own.

    Raises:
        UsageError: A flag's value cannot be read, or the variants do not fit each other.
    """
    from promptpo.envs.task import Task, Variant, Wrapping
    from promptpo.envs.task_file import read_tasks

    given = [env_kwargs] if isinstance(env_kwargs, str) else list(env_kwargs or ())
    objects = [json_object(text, "--env-kwargs") for text in given]
    base: dict[str, Any] = objects[0] if len(objects) == 1 else {}
    variants = tuple(Variant(one) for one in objects) if len(objects) > 1 else ()
    held_out = tuple(Variant(json_object(text, "--held-out-kwargs")) for text in held_out_kwargs or ())
    if tasks is not None:
        if variants or held_out:
            raise UsageError(
                "name the variants in --tasks or by --env-kwargs and --held-out-kwargs, not in both ways."
            )
        variants, held_out = read_tasks(tasks)
    elif held_out and not variants:
        base, variants = {}, (Variant(base),)
    wrapping = tuple(Wrapping.parse(text) for text in wrappers or ())
    program = None
    if reward is not None:
        from promptpo.program.reward_program import read_reward

        program = read_reward(reward)
    return Task(
        env_id, base, max_episode_steps, wrapping, variants, held_out, show_variant, program
    ).checked()


def write_output(text: str, output: Path | None, facts: Mapping[str, Any] | None) -> None:
    """Give the user a text: in a file, or on standard output.

    Args:
        text: The text.
        output: The file; None prints the text.
        facts: With ``--json``, what is printed beside the file's name or the text.

    Raises:
        PromptPOError: The file cannot be written.
    """
    if output is not None:
        from promptpo.files import cannot_write, write_atomically

        try:
            write_atomically(output, text)
        except OSError as error:
            raise cannot_write(output, error) from error
    if facts is not None:
        print_json({**facts, "output": str(output)} if output else {**facts, "text": text})
    elif output is not None:
        print(f"wrote {output}", file=standard_output())
    else:
        # a file gets the text as it is, a terminal must not obey it
        shown = clean(text) if standard_output().isatty() else text
        print(shown, end="" if shown.endswith("\n") else "\n", file=standard_output(), flush=True)
