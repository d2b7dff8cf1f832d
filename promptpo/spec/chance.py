"""Whether an environment may draw random numbers, by its source."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from promptpo.envs.randomness import author_classes

if TYPE_CHECKING:
    from gymnasium import Env

CHANCE = re.compile(r"random|\brng|seed|shuffle|\.sample\(|\.rvs\(", re.IGNORECASE)
"""Code that draws, or hands a seed on."""

PASSED_OVER = re.compile(r"#.*|def \w+\([^)]*\)|super\(.*?\)\.reset\([^)]*\)")
"""Comments, and where a seed is taken and given to Gymnasium."""


def may_draw(env: Env[Any, Any]) -> bool:
    """Whether the code of an environment's own classes speaks of chance, in events that a few episodes may not show."""
    try:
        text = "".join(map(inspect.getsource, author_classes(type(env.unwrapped))))
    except (OSError, TypeError):
        return False
    return CHANCE.search(PASSED_OVER.sub("", text)) is not None
