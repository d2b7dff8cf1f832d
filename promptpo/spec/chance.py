"""Check an environment's source for random numbers."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from promptpo.envs.randomness import author_classes

if TYPE_CHECKING:
    from gymnasium import Env

CHANCE = re.compile(r"random|\brng|seed|shuffle|\.sample\(|\.rvs\(", re.IGNORECASE)
"""Code that draws random numbers or passes a seed on."""

IGNORED = re.compile(r"#.*|def \w+\([^)]*\)|super\(.*?\)\.reset\([^)]*\)")
"""Comments, function heads, and calls that pass the seed to Gymnasium."""


def may_draw(env: Env[Any, Any]) -> bool:
    """Return whether an environment's own classes may draw random numbers, which a few episodes may not show."""
    try:
        text = "".join(map(inspect.getsource, author_classes(type(env.unwrapped))))
    except (OSError, TypeError):
        return False
    return CHANCE.search(IGNORED.sub("", text)) is not None
