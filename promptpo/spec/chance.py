"""Whether an environment may draw random numbers, by its source."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any

from promptpo.envs.randomness import own_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymnasium import Env

CHANCE = re.compile(r"random|\brng|seed|shuffle|^sample$|^rvs$", re.IGNORECASE)
"""Names in code that draws, or hands a seed on."""


def may_draw(env: Env[Any, Any]) -> bool:
    """Whether the code of an environment's own classes speaks of chance, in events that a few episodes may not show."""
    trees = (ast.parse(textwrap.dedent(_class_text(one))) for one in own_classes(type(env.unwrapped)))
    return any(CHANCE.search(name) for tree in trees for name in _names_in(tree))


def _names_in(node: ast.AST) -> Iterator[str]:
    """Variables and attributes that code uses, but for what it hands on to Gymnasium's own ``reset``."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("super("):
        return
    name = getattr(node, "id", None) or getattr(node, "attr", None)
    yield from [name] if isinstance(name, str) else []
    for child in ast.iter_child_nodes(node):
        yield from _names_in(child)


def _class_text(kind: type[Any]) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return ""
