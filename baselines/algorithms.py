"""Names of algorithms, and their classes in stable-baselines3 and sb3-contrib."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from promptpo.errors import UsageError

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

Algorithm = Literal["ppo", "trpo", "sac", "tqc", "crossq"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

CONTINUOUS_ONLY = ("sac", "tqc", "crossq")
"""Algorithms that act in boxes only."""

_TELLTALES = {
    "ppo": "clip_range",
    "trpo": "cg_max_steps",
    "tqc": "top_quantiles_to_drop_per_net",
    "crossq": "policy_delay",
    "sac": "target_entropy",
}
"""For each algorithm, an attribute that its saved files have and those of the ones after it have not."""


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
    if name in ("tqc", "crossq"):
        import sb3_contrib

        found: type[BaseAlgorithm] = getattr(sb3_contrib, {"tqc": "TQC", "crossq": "CrossQ"}[name])
        return found
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
