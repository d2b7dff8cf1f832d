"""Small tables for environments whose documentation names no fields, or whose meaning lies in an instance.

Most environments need nothing here: their documentation's tables are read. An entry supplies only what
is missing, such as how an index decodes into a row and a column, or the map of this very instance.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from promptpo.spec.known.base import Supplement

if TYPE_CHECKING:
    from collections.abc import Mapping

    import gymnasium

TABLES: Mapping[str, str] = {
    "gymnasium.envs.classic_control": "classic_control",
    "gymnasium.envs.toy_text": "toy_text",
    "gymnasium.envs.box2d": "box2d",
    "metaworld": "meta_world",
    "minigrid": "minigrid",
    "gymnasium_robotics": "robotics",
    "highway_env": "highway",
}
"""Prefix of the module that defines an environment to the module here that knows about it."""


def known(env: gymnasium.Env[Any, Any]) -> Supplement:
    """What is known about an environment beyond its documentation; empty for most.

    Args:
        env: Any environment that has been reset; its unwrapped class decides.
    """
    modules = [cls.__module__ for cls in type(env.unwrapped).__mro__]
    for prefix, table in TABLES.items():
        if any(module == prefix or module.startswith(f"{prefix}.") for module in modules):
            found: Supplement | None = importlib.import_module(f"{__name__}.{table}").known(env.unwrapped)
            return found or Supplement()
    return Supplement()


__all__ = ["Supplement", "known"]
