"""Inlining of ``looking`` into policies that import it, so that they become self-contained modules."""

from __future__ import annotations

import ast
import inspect
import re

from promptpo.program.confined.tree import Module, docstring_of
from promptpo_sandbox.guest import looking

MODULE = "looking"

_Import = ast.Import | ast.ImportFrom


def inline_looking(module: Module) -> str:
    """Return the policy with the functions of ``looking`` that it uses inlined in place of their imports.

    The functions get names unused in the policy; each import becomes assignments of these to the imported names.
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
    place = _beginning(module)  # the assignments must come after the functions
    edits = [(module.start(node), module.end(node), _assignments(node, prefix)) for node in found]
    return module.replace_spans([*edits, (place, place, f"{_block(wanted, prefix, whole=whole)}\n\n\n")])


def _ours(node: _Import) -> bool:
    """Whether a statement imports the module or functions of it."""
    if isinstance(node, ast.ImportFrom):
        return node.module == MODULE and not node.level and all(a.name in _PIECES for a in node.names)
    return any(alias.name == MODULE for alias in node.names)


def _assignments(node: _Import, prefix: str) -> str:
    """Return the assignments that replace an import."""
    if isinstance(node, ast.ImportFrom):
        return "; ".join(f"{alias.asname or alias.name} = {prefix}{alias.name}" for alias in node.names)
    others = [ast.unparse(ast.Import([alias])) for alias in node.names if alias.name != MODULE]
    ours = [f"{alias.asname or MODULE} = {prefix}all" for alias in node.names if alias.name == MODULE]
    return "; ".join([*others, *ours])


_PIECES = {
    name: inspect.getsource(piece) for name, piece in vars(looking).items() if inspect.isfunction(piece)
}
"""Source of the module's functions by name, in order; read at import, while the files are readable."""


def _with_needed(wanted: set[str]) -> list[str]:
    """Return names of functions and of those they call, in the module's order."""
    needed = {other for name in wanted for other in _PIECES if re.search(rf"\b{other}\(", _PIECES[name])}
    return [name for name in _PIECES if name in wanted] if needed <= wanted else _with_needed(wanted | needed)


def _block(wanted: list[str], prefix: str, *, whole: bool) -> str:
    """Return the functions' source under prefixed names, plus a class of them if the whole module is imported."""
    text = "\n\n\n".join(_PIECES[name].strip() for name in wanted)
    for name in wanted:
        text = re.sub(rf"\b{name}\(", f"{prefix}{name}(", text)
    text = re.sub(r"\bnp\.", f"{prefix}np.", text)
    together = [f"    {name} = staticmethod({prefix}{name})" for name in wanted]
    module = "\n".join([f"\n\n\nclass {prefix}all:", *together]) if whole else ""
    note = f"# Pieces for looking at pictures, as promptpo's module `{MODULE}` has them."
    return f"import numpy as {prefix}np\n\n\n{note}\n\n\n{text}{module}"


def _beginning(module: Module) -> int:
    """Return the offset of the line after the docstring and imports from ``__future__``."""
    last = docstring_of(module.tree)
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            last = node
    end = -1 if last is None else module.data.find(b"\n", module.end(last))
    return 0 if last is None else len(module.data) if end < 0 else end + 1
