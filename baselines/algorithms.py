"""Names of algorithms, and their classes in stable-baselines3 and sb3-contrib."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from promptpo.errors import UsageError

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

Algorithm = Literal["ppo", "trpo", "sac"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

_TELLTALES = {"ppo": "clip_range", "trpo": "cg_max_steps", "sac": "target_entropy"}
"""For each algorithm, an attribute that only its saved files have."""


def algorithm_class(name: str) -> type[BaseAlgorithm]:
    """The class of an algorithm.

    Raises:
        UsageError: There is no such algorithm.
    """
    if name == "ppo":
        from stable_baselines3 import PPO

        return PPO
    if name == "trpo":
        from sb3_contrib import TRPO

        return TRPO
    if name == "sac":
        from stable_baselines3 import SAC

        return SAC
    raise UsageError(f"there is no algorithm {name!r}; there are: {', '.join(ALGORITHMS)}.")


def algorithm_of(path: Path) -> str:
    """Which algorithm wrote a saved agent, told by what only it saves.

    Raises:
        UsageError: The file is not an agent of one of `ALGORITHMS`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            saved = json.loads(archive.read("data"))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UsageError(f"{path} is not an agent saved by stable-baselines3.") from error
    for name, telltale in _TELLTALES.items():
        if telltale in saved:
            return name
    raise UsageError(f"{path} was not saved by one of: {', '.join(ALGORITHMS)}.")
