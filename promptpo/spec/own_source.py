"""The environment's own source, for people who withhold nothing from the model."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import gymnasium

MOST = 16_000
"""Characters of source; whole lines beyond it are left out."""

PASSIVE = ("render", "close", "_render", "get_keys_to_action")
"""Methods that move nothing."""

LIBRARY = re.compile(r"gymnasium\.(?!envs\.\w+\.)")
"""Modules of Gymnasium that are about no task."""


def source_block(env: gymnasium.Env[Any, Any]) -> str:
    """The modules of its classes and of the objects that it holds, as far as they are of its own package."""
    kinds = [*type(env).__mro__, *(type(part) for part in vars(env).values())]
    package = type(env).__module__.split(".")[0]
    modules = dict.fromkeys(kind.__module__ for kind in kinds)
    own = (name for name in modules if name.split(".")[0] == package and not LIBRARY.match(name))
    text = "\n\n\n".join(filter(None, map(_shown, own)))
    if not text:
        return "# The environment's source cannot be read."
    if len(text) > MOST:
        text = text[:MOST].rpartition("\n")[0] + "\n# The rest is left out for its length."
    return f"# The environment's own source.\n\n\n{text}"


def _shown(module: str) -> str:
    """A module with its comments, without imports, documentation and what draws; empty where it cannot be read."""
    try:
        text = inspect.getsource(sys.modules[module])
    except (OSError, TypeError):
        return ""
    gone = {
        line for node in _left_out(ast.parse(text)) for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    lines = (line.rstrip() for n, line in enumerate(text.split("\n"), 1) if n not in gone)
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip()


def _left_out(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements of a module and its classes that say nothing of a task."""
    homes = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef)]
    for one in (one for home in homes for one in home.body):
        text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        about_files = isinstance(one, ast.Import | ast.ImportFrom | ast.If)
        if text or about_files or getattr(one, "name", "") in PASSIVE:
            yield one
