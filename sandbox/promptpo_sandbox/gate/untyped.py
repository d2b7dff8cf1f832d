"""Taking out of a tree what changes nothing that it computes: annotations, modules that only serve them, silenced warnings."""

from __future__ import annotations

import ast
from typing import Any

from promptpo_sandbox.gate.bindings import Bindings
from promptpo_sandbox.gate.names import ANNOTATIONS

QUIET = {"np.errstate", "numpy.errstate"}


class Unsilenced(ast.NodeTransformer):
    """Puts the lines of ``with np.errstate(divide="ignore"):`` where it stands: nobody sees warnings here."""

    def visit_With(self, node: ast.With) -> Any:
        """The statement, or its lines where it says nothing else."""
        self.generic_visit(node)
        return node.body if all(map(_is_silence, node.items)) else node


def _is_silence(item: ast.withitem) -> bool:
    match item:
        case ast.withitem(ast.Call(function, [], settings), None) if ast.unparse(function) in QUIET:
            return all(ast.unparse(one.value) == "'ignore'" for one in settings)
    return False


def is_alias(node: ast.AST, bindings: Bindings) -> bool:
    """Whether a statement gives a type a name: ``State = Tuple[int, int]``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Subscript):
        return False
    module, _, _ = (bindings.path(node.value.value) or "").rpartition(".")
    return module in ANNOTATIONS and isinstance(bindings.parents[node], ast.Module)


def without_annotations(tree: ast.Module, nodes: list[ast.AST], bindings: Bindings) -> ast.Module:
    """The same tree, changed in place: no annotation is evaluated, and what it would have imported is left out.

    A field of a dataclass or a named tuple keeps an annotation that says nothing; one that is a class variable
    becomes a plain assignment.
    """
    for node in nodes:
        if is_alias(node, bindings):
            node.value = ast.copy_location(ast.Constant(None), node)  # type: ignore[attr-defined]
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, [_plain(statement) for statement in body])
    return tree


def _plain(node: ast.stmt) -> ast.stmt:
    """A statement without what only says types."""
    new: ast.stmt = node
    if isinstance(node, ast.AnnAssign):
        if "ClassVar" in ast.dump(node.annotation):
            new = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        else:
            node.annotation = ast.copy_location(ast.Constant(None), node.annotation)
    elif isinstance(node, ast.ImportFrom) and node.module in ANNOTATIONS:
        node.names = [alias for alias in node.names if alias.name == "NamedTuple"]
        new = node if node.names else ast.Pass()
    elif isinstance(node, ast.Import):
        node.names = [
            alias for alias in node.names if alias.name not in ANNOTATIONS or alias.name == "typing"
        ]
        new = node if node.names else ast.Pass()
    return new if new is node else ast.copy_location(new, node)
