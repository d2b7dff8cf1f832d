"""Names of algorithms, and their classes in stable-baselines3 and sb3-contrib."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from promptpo.errors import UsageError
from promptpo.files import parse_json

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

Algorithm = Literal["ppo", "trpo", "sac", "tqc", "crossq", "dqn", "qrdqn"]
MAX_DESCRIPTION_BYTES = 1 << 26
"""Maximum size of a saved agent's description, which is stored apart from its weights."""

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

CONTINUOUS_ONLY = ("sac", "tqc", "crossq")
"""Those of `ALGORITHMS` that require a box of actions."""

DISCRETE_ONLY = ("dqn", "qrdqn")
"""Those of `ALGORITHMS` that require numbered actions."""

SB3 = ("ppo", "a2c", "dqn", "sac", "td3")
"""Those of stable-baselines3; the others are sb3-contrib's."""

PLAYABLE: Mapping[str, tuple[str, str]] = {
    **{name: ("stable_baselines3", name.upper()) for name in SB3},
    **{name: ("sb3_contrib", name.upper()) for name in ("qrdqn", "tqc", "ars")},
    "crossq": ("sb3_contrib", "CrossQ"),
    "trpo": ("promptpo_baselines.trpo", "OnePassTRPO"),
}
"""Algorithms whose saved agents can be played, all of `ALGORITHMS` among them: (module, class)."""

_BY_POLICY = ("qrdqn", "dqn", "tqc", "crossq", "sac", "td3", "ars")
"""Algorithms with policy classes of their own, which saved files name; DDPG uses TD3's."""

_BY_SETTING = {"clip_range": "ppo", "cg_max_steps": "trpo"}
"""Of those that share policy classes, a setting that only one has; the third is A2C."""


def display_name(name: str) -> str:
    """Return an algorithm's name as its authors write it."""
    return {"crossq": "CrossQ", "qrdqn": "QR-DQN"}.get(name, name.upper())


def describe_algorithm(name: Algorithm) -> str:
    """Describe an algorithm by its library, and by its kind of actions unless it takes all."""
    library = "stable-baselines3" if name in SB3 else "sb3-contrib"
    limits = {"continuous": CONTINUOUS_ONLY, "discrete": DISCRETE_ONLY}
    kinds = [f", for {kind} actions" for kind, names in limits.items() if name in names]
    return f"{display_name(name)} of {library}{''.join(kinds)}"


def algorithm_class(name: str) -> type[BaseAlgorithm]:
    """Return the class of one of `PLAYABLE`."""
    module, attribute = PLAYABLE[name]
    found: type[BaseAlgorithm] = getattr(importlib.import_module(module), attribute)
    return found


def algorithm_of(path: Path) -> str:
    """Return which algorithm saved an agent, judged by what only that one saves.

    Raises:
        UsageError: The file is not an agent of one of `PLAYABLE`.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open("data") as file:
            saved = parse_json(file.read(MAX_DESCRIPTION_BYTES))
        kind = str(saved["policy_class"]["__module__"])
    except Exception as error:
        raise UsageError(f"{path} is not an agent saved by stable-baselines3.") from error
    if kind == "stable_baselines3.common.policies" or not kind.startswith(
        ("stable_baselines3.", "sb3_contrib.")
    ):
        return next((name for setting, name in _BY_SETTING.items() if setting in saved), "a2c")
    for name in _BY_POLICY:
        if f".{name}." in kind:
            return name
    raise UsageError(f"{path} was not saved by one of: {', '.join(PLAYABLE)}.")
