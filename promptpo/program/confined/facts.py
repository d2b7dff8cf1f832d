"""Facts about a module, found without running it."""

from __future__ import annotations

import ast
import contextlib
from typing import Any

from promptpo.program.confined.tree import Module, assignments, bound_here, docstring_of, literal
from promptpo_sandbox.text import clean


def is_python(module: Module) -> bool:
    """Whether the text parses, which is true of every `Module`."""
    return bool(module)


def names(module: Module) -> list[str]:
    """Return the names bound at the top level, sorted."""
    declared = [name for node in ast.walk(module.tree) if isinstance(node, ast.Global) for name in node.names]
    return sorted({*bound_here(module.tree.body), *declared})


def reads(module: Module) -> list[str]:
    """Return the names read anywhere in the module, sorted."""
    nodes = ast.walk(module.tree)
    return sorted({n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)})


def docstring(module: Module) -> str:
    """Return the module's docstring, cleaned; empty without one."""
    return clean((ast.get_docstring(module.tree, clean=False) or "").strip())


def class_docstrings(module: Module, name: str = "") -> list[str]:
    """Return the docstrings of top-level classes, or of the class with this name."""
    classes = [n for n in module.tree.body if isinstance(n, ast.ClassDef) and name in ("", n.name)]
    return [text for node in classes if (text := ast.get_docstring(node))]


def text(module: Module, name: str) -> str:
    """Return the string assigned to a name, at the top level or in a class; empty without one."""
    body = module.tree.body
    bodies = (body, *(node.body for node in body if isinstance(node, ast.ClassDef)))
    values = (value for part in bodies for target, value in assignments(part) if target == name)
    texts = (node.value for node in values if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return next(filter(None, map(str.strip, texts)), "")


def without_docstring(module: Module) -> str:
    """Return the source without the module's docstring; other code on its line stays."""
    statement = docstring_of(module.tree)
    if statement is None:
        return module.source
    start, end = module.start(statement), module.end(statement)
    after = module.data[end:]
    rest = after.lstrip(b" \t\f")
    if rest[:1] == b";":
        end += len(after) - len(rest[1:].lstrip(b" \t\f"))
    return module.replace_spans([(start, end, "")])


POSTPONED = "from __future__ import annotations"
"""Import that stops annotations from being evaluated, as in guests, so that the gate has seen all code that runs."""


def postpone_annotations(module: Module) -> str:
    """Return the source with `POSTPONED` first, after the docstring, unless it is there already."""
    if _is_postponed(module):
        return module.source
    statement = docstring_of(module.tree)
    if statement is None:
        return f"{POSTPONED}\n\n{module.source}"
    place = module.end(statement)
    behind = module.data[place:].lstrip(b" \t\f")[:1] == b";"
    return module.replace_spans([(place, place, f"; {POSTPONED}" if behind else f"\n\n{POSTPONED}")])


def body(module: Module) -> str:
    """Return the source without its docstring and with `POSTPONED` first."""
    text = without_docstring(module).strip("\n")
    return text if _is_postponed(module) else f"{POSTPONED}\n\n{text}"


def _is_postponed(module: Module) -> bool:
    imports = (node for node in module.tree.body if isinstance(node, ast.ImportFrom))
    return any(node.module == "__future__" for node in imports)


def option_defaults(module: Module) -> dict[str, Any]:
    """Return defaults of options that the module adds to an ``argparse`` parser by literals, by name."""
    defaults: dict[str, Any] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            default = next((word.value for word in node.keywords if word.arg == "default"), None)
            with contextlib.suppress(ValueError):
                defaults[str(literal(node.args[0] if node.args else None))] = literal(default)
    return defaults
