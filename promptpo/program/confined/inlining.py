"""Policies that import ``looking`` as modules that stand alone: the pieces that they use become part of them."""

from __future__ import annotations

import ast
import inspect
import re

from promptpo.program.confined.tree import Module, docstring_of
from promptpo_sandbox.guest import looking

MODULE = "looking"

_Import = ast.Import | ast.ImportFrom


def inline_looking(module: Module) -> str:
    """The same policy with the pieces of ``looking`` that it uses in the place of their imports.

    They have names that nothing else in the policy has; what was imported is set to them where the import stood.
    """
    nodes = ast.walk(module.tree)
    found = [node for node in nodes if isinstance(node, _Import) and _ours(node)]
    if not found:
        return module.source
    prefix = f"{MODULE}_"
    while prefix in module.source:
        prefix += "_"
    whole = any(isinstance(node, ast.Import) for node in found)
    chosen = {alias.name for node in found if isinstance(node, ast.ImportFrom) for alias in node.names}
    wanted = _with_needed(set(_PIECES) if whole else chosen)
    place = _beginning(module)  # what they are set to has to stand behind the pieces
    edits = [(module.start(node), module.end(node), _assignments(node, prefix)) for node in found]
    return module.replace_spans([*edits, (place, place, f"{_block(wanted, prefix, whole=whole)}\n\n\n")])


def _ours(node: _Import) -> bool:
    """Whether a statement imports the module or pieces of it."""
    if isinstance(node, ast.ImportFrom):
        return node.module == MODULE and not node.level and all(a.name in _PIECES for a in node.names)
    return any(alias.name == MODULE for alias in node.names)


def _assignments(node: _Import, prefix: str) -> str:
    """Assignments that replace an import."""
    if isinstance(node, ast.ImportFrom):
        return "; ".join(f"{alias.asname or alias.name} = {prefix}{alias.name}" for alias in node.names)
    others = [ast.unparse(ast.Import([alias])) for alias in node.names if alias.name != MODULE]
    ours = [f"{alias.asname or MODULE} = {prefix}all" for alias in node.names if alias.name == MODULE]
    return "; ".join([*others, *ours])


_PIECES = {
    name: inspect.getsource(piece) for name, piece in vars(looking).items() if inspect.isfunction(piece)
}
"""The functions of the module by name, in its order; read while there are files to read."""


def _with_needed(wanted: set[str]) -> list[str]:
    """The names of pieces with those that they call, in the module's order."""
    needed = {other for name in wanted for other in _PIECES if re.search(rf"\b{other}\(", _PIECES[name])}
    return [name for name in _PIECES if name in wanted] if needed <= wanted else _with_needed(wanted | needed)


def _block(wanted: list[str], prefix: str, *, whole: bool) -> str:
    """The pieces as text, under names of their own; as one object, too, where the whole module is asked for."""
    text = "\n\n\n".join(_PIECES[name].strip() for name in wanted)
    for name in wanted:
        text = re.sub(rf"\b{name}\(", f"{prefix}{name}(", text)
    text = re.sub(r"\bnp\.", f"{prefix}np.", text)
    together = [f"    {name} = staticmethod({prefix}{name})" for name in wanted]
    module = "\n".join([f"\n\n\nclass {prefix}all:", *together]) if whole else ""
    note = f"# Pieces for looking at pictures, as promptpo's module `{MODULE}` has them."
    return f"import numpy as {prefix}np\n\n\n{note}\n\n\n{text}{module}"


def _beginning(module: Module) -> int:
    """The offset of the line behind what a module has to begin with: its docstring, imports from ``__future__``."""
    last = docstring_of(module.tree)
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            last = node
    end = -1 if last is None else module.data.find(b"\n", module.end(last))
    return 0 if last is None else len(module.data) if end < 0 else end + 1
