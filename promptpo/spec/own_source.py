"""The environment's own source, for people who withhold nothing from the model."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import gymnasium

MOST = 16_000
"""Characters of source; definitions beyond it are left out, and named."""

PASSIVE = ("render", "close", "_render", "get_keys_to_action")
"""Methods that move nothing."""


def source_block(env: gymnasium.Env[Any, Any]) -> str:
    """The modules of its classes and of the objects that it holds, as far as they are of its own package: whole definitions."""
    package = type(env).__module__.split(".")[0]
    kinds = [*type(env).__mro__, *(type(part) for part in vars(env).values())]
    modules = dict.fromkeys(kind.__module__ for kind in kinds)
    own = [name for name in modules if name.split(".")[0] == package and name != "gymnasium.core"]
    blocks, left_out, room = ["# The environment's own source."], [], MOST
    for name in own:
        try:
            text = inspect.getsource(sys.modules[name])
        except (OSError, TypeError):
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import | ast.ImportFrom | ast.If) or _is_text(node):
                continue
            if isinstance(node, ast.ClassDef):  # its documentation stands above; what draws moves nothing
                node.body = [one for one in node.body if not _is_text(one) and _name(one) not in PASSIVE]
                node.body = node.body or [ast.Pass()]
            part = ast.unparse(node)
            room -= len(part)
            if room < 0:
                left_out.append(_name(node))
            else:
                blocks.append(part)
    if len(blocks) == 1:
        return "# The environment's source cannot be read."
    named = ", ".join(filter(None, left_out))
    return "\n\n\n".join([*blocks, *([f"# Left out for their length: {named}."] if named else [])])


def _name(node: ast.stmt) -> str:
    return getattr(node, "name", "")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
