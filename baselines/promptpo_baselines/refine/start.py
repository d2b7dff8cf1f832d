"""The settings of a refinement, from a run or a policy file."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.files import read_json, read_text
from promptpo.output.exporting import policy_part
from promptpo.output.policy_file import check_made_for, file_and_task
from promptpo.output.report import RESULT
from promptpo.program import Program
from promptpo.session.user_inputs import check_policy
from promptpo_baselines.algorithms import CONTINUOUS_ONLY
from promptpo_baselines.environments import make_playable
from promptpo_baselines.refine.checking import STANDALONE_MIN_STEPS, check_alone
from promptpo_baselines.refine.shapes import Actions, flat_size
from promptpo_baselines.settings import CONFIG, load_settings
from promptpo_sandbox import check_source

if TYPE_CHECKING:
    from promptpo_baselines.algorithms import Algorithm

HEADER_END = "\n\nTo play it (needs gymnasium):"
"""Beginning of the last paragraph of an exported file's header."""


def prior_of(
    run: Path,
    task: Task | None,
    *,
    scale: float,
    allow_weaker: bool = False,
    trust: bool = False,
    **changes: Any,
) -> tuple[Task, dict[str, Any]]:
    """Load the program that a network is added to.

    Args:
        run: A run directory, an exported file, or a bare policy module.
        task: The task that the user named; None takes that of the run or the file.
        scale: Scale of what the network adds.
        allow_weaker: Accept a machine that lacks sandbox layers.
        trust: Build the environment that the run or the file names, whoever made it.
        changes: Other values of the task, such as its reward; None keeps the task's.

    Returns:
        The task, and the program with facts about it as plain data.

    Raises:
        UsageError: There is no policy, its environment is unknown, or it cannot be refined.
    """
    if not run.exists():
        raise UsageError(f"there is no run or policy {run}.")
    file, task = file_and_task(run, task, trust=trust)
    task = replace(task, **{name: value for name, value in changes.items() if value is not None})
    check_made_for(file, read_text(file), task)
    source, result = _program_of(file)
    with contextlib.closing(make_playable(task, allow_weaker=allow_weaker)) as env:
        flat_size(env.observation_space, task.name)
        Actions.of(env.action_space)
        check_policy(source, env, task, f"the program in {file}", allow_weaker=allow_weaker)
    given = {
        "run": str(run),
        "source": source,
        "model": result.get("model") or _author(file),
        "candidate": str((result.get("best") or {}).get("candidate") or file.name),
        "steps": result.get("searched_steps", 0),
        "scale": scale,
        "allow_weaker": allow_weaker,
    }
    return task, given


def _program_of(file: Path) -> tuple[str, dict[str, Any]]:
    """Return the module of a file that can be refined, and the result of its run, if it has one.

    Raises:
        UsageError: The sandbox rejects it, or it is refined already.
    """
    source, result = without_header(policy_part(read_text(file))), _result_of(file)
    failure = check_source(source)
    if failure is not None:
        raise UsageError(f"the sandbox does not take {file}: {failure.message}")
    if result.get("method") == "refine":
        again = f"{result.get('command', 'promptpo refine')} --resume"
        raise UsageError(f"{file} is refined already; to continue its training, raise --max-steps: {again}")
    return source, result


def choose_training(
    asked: Algorithm | Literal["auto"],
    alone: bool | None,
    task: Task,
    directory: Path,
    given: dict[str, Any],
    steps: int,
) -> Algorithm:
    """Return the RL algorithm, and set in `given` whether the network acts alone; a choice left open follows the run.

    Args:
        asked: The RL algorithm that the user named.
        alone: The user's choice, if any.
        task: The task to play.
        directory: The run directory.
        given: Result of `prior_of`.
        steps: Training steps.

    Raises:
        UsageError: The network cannot act alone, and the user wants it to.
    """
    begun = load_settings(directory) if (directory / CONFIG).exists() else None
    if asked != "auto":
        trainer = asked
    elif begun is not None:
        trainer = begun.algorithm
    else:
        with contextlib.closing(make_playable(task, allow_weaker=given["allow_weaker"])) as env:
            trainer = "crossq" if Actions.of(env.action_space).continuous else "ppo"
    if alone:
        check_alone(trainer, given["scale"])
    elif alone is None and begun is not None:
        alone = (begun.prior or {}).get("alone")
    elif alone is None:
        alone = trainer in CONTINUOUS_ONLY and given["scale"] == 1.0 and steps >= STANDALONE_MIN_STEPS
    if alone:
        given["alone"] = True
    return trainer


def without_header(source: str) -> str:
    """Return an exported program with its own docstring only: results in the header are not those of the next file."""
    program = Program.from_source(source)
    _, header, rest = program.docstring.partition(HEADER_END)
    if not header:
        return source
    own = rest.partition("\n\n")[2].replace("\\", "\\\\").replace('"""', "'''")
    docstring = f'"""{own}\n"""\n' if own else ""
    return docstring + program.without_docstring.lstrip("\n")


def _result_of(file: Path) -> dict[str, Any]:
    try:
        found = read_json(file.parent / RESULT)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _author(file: Path) -> str:
    """Return the author of a file according to its header."""
    match = re.search(r"written by (.+?)\.\n", read_text(file)[:2000])
    return match[1] if match else "its user (given to refine)"
