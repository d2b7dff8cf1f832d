"""Arguments and flags that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from promptpo.cli.document import print_json, reserve_for_json, standard_output
from promptpo.errors import UsageError
from promptpo.files import Json
from promptpo.settings import plain_value
from promptpo_sandbox.text import clean


def env_ids(incomplete: str) -> list[str]:
    """Return the ids that Gymnasium knows, for shell completion."""
    import gymnasium

    return sorted(name for name in gymnasium.registry if name.startswith(incomplete))


def runs(incomplete: str) -> list[str]:
    """Return run directories here and under ``runs/``, newest first, for shell completion."""
    folders = [
        path.parent for pattern in ("*/config.toml", "runs/*/config.toml") for path in Path().glob(pattern)
    ]
    folders.sort(key=lambda folder: -folder.stat().st_mtime)
    return [str(folder) for folder in folders if str(folder).startswith(incomplete)]


EnvId = Annotated[
    str,
    typer.Argument(
        metavar="ENV_ID",
        help="Environment: CartPole-v1, my_module:My/Env-v0, my_module:MyEnv or ./my_env.py:MyEnv.",
        autocompletion=env_ids,
    ),
]
EnvOption = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="ENV_ID",
        help="Environment id; not needed for a run or an exported file, which name theirs.",
        autocompletion=env_ids,
    ),
]
RunDir = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.", autocompletion=runs)]
PolicyFile = Annotated[
    Path,
    typer.Argument(
        metavar="POLICY",
        help="An exported file, a bare policy module, or a run directory (its best policy).",
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
        help="Keyword arguments for the environment, as a JSON object; if repeated, one policy must handle all of these variants.",
        rich_help_panel="Environment",
    ),
]
Wrappers = Annotated[
    list[str] | None,
    typer.Option(
        "--wrapper",
        metavar="NAME",
        help="Wrap the environment in this wrapper: module:Wrapper, file.py:Wrapper or one of gymnasium.wrappers, with arguments as 'module:Wrapper{\"n\": 4}'; repeatable, the first is innermost.",
        rich_help_panel="Environment",
    ),
]
TasksFile = Annotated[
    Path | None,
    typer.Option(
        "--tasks",
        metavar="FILE",
        help="A TOML file with the variants that one policy must handle.",
        rich_help_panel="Environment",
    ),
]
ShowVariant = Annotated[
    bool,
    typer.Option(
        "--show-variant",
        help='Show the policy which variant it plays: observations become {"observation": ..., "variant": n}.',
        rich_help_panel="Environment",
    ),
]
RewardFile = Annotated[
    Path | None,
    typer.Option(
        "--reward",
        metavar="FILE.py",
        help="A reward to use instead of the environment's own: a class Reward with step(obs, action, next_obs, env_reward, info), run in the sandbox.",
        rich_help_panel="Environment",
    ),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Maximum episode length in steps; by default the environment's own.",
        rich_help_panel="Environment",
    ),
]
FirstSeed = Annotated[
    int, typer.Option("--seed", help="Seed of the first episode; later episodes use consecutive seeds.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel="Output")]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        callback=reserve_for_json,
        help="Print the result as JSON on standard output, and no progress.",
        rich_help_panel="Output",
    ),
]
Weaker = Annotated[
    bool, typer.Option("--allow-weaker-sandbox", help="Run even if the system lacks sandbox layers.")
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Trust a run that was not made here: import and start what it names.",
        rich_help_panel="Advanced",
    ),
]
Jobs = Annotated[int, typer.Option(min=0, help="Rollout processes; 0 means one per core.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write; by default standard output.")
]
Film = Annotated[
    bool,
    typer.Option(
        "--film/--no-film", help="Play one more episode and show it in report.html.", rich_help_panel="Output"
    ),
]


Track = Annotated[
    list[str] | None,
    typer.Option(
        "--track",
        metavar="WHAT[:WHERE]",
        help="Also log to tensorboard:FOLDER, wandb:PROJECT, mlflow:URI or monitor:FILE; repeatable.",
        rich_help_panel="Output",
    ),
]


def json_object(text: str, flag: str) -> dict[str, Any]:
    """Parse the value of a flag that takes a JSON object or ``name=value,name=value``.

    Raises:
        UsageError: The text is neither.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        pairs = [pair.partition("=") for pair in text.split(",")]
        if not all(name.strip().isidentifier() and equals for name, equals, _ in pairs):
            raise UsageError(
                f"{flag} takes name=value, such as {flag} n=4, or a JSON object, such as "
                f"{flag} '{{\"n\": 4}}' in these quotes, not {text} ({error})."
            ) from error
        return {name.strip(): plain_value(value.strip()) for name, _, value in pairs}
    if not isinstance(value, dict):
        raise UsageError(f'{flag} must be a JSON object such as \'{{"map_name": "8x8"}}\', not {text}.')
    return value


HeldOutKwargs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="JSON",
        help="Keyword arguments of a variant used only in the final test; repeatable.",
        rich_help_panel="Environment",
    ),
]


def write_output(text: str, output: Path | None, facts: Json | None) -> None:
    """Write a text to a file or to standard output.

    Args:
        text: The text.
        output: The file; None for standard output.
        facts: Further entries of the JSON value to print; None without ``--json``.

    Raises:
        PromptPOError: The file cannot be written.
    """
    text = clean(text)  # its control characters must affect neither a terminal nor a viewer of the file
    if output is not None:
        from promptpo.files import write_named

        write_named(output, text)
    if facts is not None:
        print_json({**facts, **({"output": str(output)} if output else {"text": text})})
    elif output is not None:
        print(f"wrote {output}", file=standard_output())
    else:
        print(text, end="" if text.endswith("\n") else "\n", file=standard_output(), flush=True)
