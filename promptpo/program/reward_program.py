"""Reward programs as values: parsed, never run."""

from __future__ import annotations

import os
from pathlib import Path

from promptpo.envs.task import RewardProgram
from promptpo.errors import UsageError
from promptpo.files import read_text
from promptpo.program.program import Program
from promptpo_sandbox import check_source
from promptpo_sandbox.text import clean_name

FORM = "class Reward with step(self, obs, action, next_obs, env_reward, info)"


def reward_program(source: str, *, file: str = "", goal: str = "") -> RewardProgram:
    """Return the reward program of a source.

    Args:
        source: The module.
        file: Name of its file.
        goal: The goal for which it was written, in words.

    Raises:
        UsageError: The program is refused before it runs; the message says why.
    """
    failure = check_source(source)
    if failure is not None:
        raise UsageError(f"{file or 'the reward'} is refused: {failure.message}.")
    program = Program.from_source(source)
    has_step, says = program.reward
    if not has_step:
        raise UsageError(f"{file or 'the reward'} defines no {FORM}; see promptpo's page on goals in words.")
    return RewardProgram(source, program.digest, clean_name(file), says, goal)


def read_reward(path: str | os.PathLike[str]) -> RewardProgram:
    """Return the reward program in a file.

    Raises:
        UsageError: The file cannot be read, or has no reward program.
    """
    try:
        file = Path(path)
    except TypeError:
        raise UsageError(f"reward must be a path to a file with a {FORM}, not {path!r}.") from None
    return reward_program(read_text(file), file=file.name)
