"""The environment's own source, for people who withhold nothing from the model."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from promptpo.spec.functions import Level, called, function_of, property_of

if TYPE_CHECKING:
    import gymnasium

MOST = 16_000
"""Characters of source; whole functions beyond it are left out, and named."""


def source_block(env: gymnasium.Env[Any, Any]) -> str:
    """What moves the environment as it stands: its constructor, reset and step, and what these call in its package."""
    reached = _reached(env)
    if not reached:
        return "# The environment's source cannot be read."
    groups: dict[str, list[str]] = {}
    left_out, room = [], MOST
    for level in reached:
        text = textwrap.dedent(inspect.getsource(level.code))
        room -= len(text)
        if room < 0:
            left_out.append(level.node.name)
        else:
            groups.setdefault(_heading(level), []).append(text.rstrip())
    blocks = [*_constants(reached)]
    for heading, texts in groups.items():
        inner = "\n\n".join(texts)
        blocks.append(f"{heading}\n{textwrap.indent(inner, '    ')}" if heading else inner)
    if left_out:
        blocks.append(f"# Left out for their length: {', '.join(left_out)}.")
    return "\n\n\n".join(["# The environment's own source.", *blocks])


def _reached(env: gymnasium.Env[Any, Any]) -> list[Level]:
    package = type(env).__module__.split(".")[0]
    waiting = [function_of(getattr(env, name), "env") for name in ("__init__", "reset", "step")]
    found: dict[Any, Level] = {}
    while waiting:
        level = waiting.pop(0)
        if level is None or level.code in found or level.names.get("__name__", "").split(".")[0] != package:
            continue
        if level.names.get("__name__") == "gymnasium.core":
            continue
        found[level.code] = level
        waiting += [called(level, n, None) for n in ast.walk(level.node) if isinstance(n, ast.Call)]
        waiting += [property_of(level, n) for n in ast.walk(level.node) if isinstance(n, ast.Attribute)]
    return list(found.values())


def _heading(level: Level) -> str:
    if level.owner is None:
        return ""
    name = type(level.owner).__name__
    return f"class {name}:" if level.path == "env" else f"class {name}:  # {level.path}"


def _constants(reached: list[Level]) -> list[str]:
    """Assignments of the modules whose names these functions use, and the classes' own, as they stand."""
    modules = {id(level.names): inspect.getmodule(level.code) for level in reached}
    used = {n.id for level in reached for n in ast.walk(level.node) if isinstance(n, ast.Name)}
    used |= {n.attr for level in reached for n in ast.walk(level.node) if isinstance(n, ast.Attribute)}
    found: dict[str, None] = {}
    for module in modules.values():
        text = inspect.getsource(module) if module is not None else ""
        tree = ast.parse(text)
        classes = {type(level.owner).__name__ for level in reached}
        bodies = [
            tree.body,
            *(n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name in classes),
        ]
        for statement in (one for body in bodies for one in body):
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if any(isinstance(n, ast.Name) and n.id in used for target in targets for n in ast.walk(target)):
                found[textwrap.dedent(ast.get_source_segment(text, statement) or "")] = None
    return ["\n".join(found)] if found else []
