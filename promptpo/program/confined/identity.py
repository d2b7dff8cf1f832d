"""Identity of programs: a digest that ignores layout and local names."""

from __future__ import annotations

import ast

from promptpo.program.confined.tree import Module, parse
from promptpo.program.tunables import text_digest


def digest(module: Module) -> str:
    """Return a digest of a source's behaviour: equal for sources that differ only in comments, layout and local names.

    Docstrings, annotations and the names of variables and arguments do not change it. Numbers, strings,
    structure and the names of attributes, functions, methods, classes and keyword arguments do.
    """
    tree = parse(module.source) or module.tree  # a copy, since normalising changes it
    try:
        return text_digest(ast.dump(_Normalise().visit(tree)))
    except (RecursionError, MemoryError, ValueError):  # for example integers too long for Python to print
        return text_digest(module.source)


class _Normalise(ast.NodeTransformer):
    """Drops code that does not change behaviour, and numbers the policy's own names."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.own: set[str] = set()

    def visit_Module(self, node: ast.Module) -> ast.AST:
        nodes = list(ast.walk(node))
        self.own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        keywords = {k.arg for n in nodes if isinstance(n, ast.Call) for k in n.keywords}
        self.own -= {"PARAMS", "TABLE", "self", "Policy"} | {k for k in keywords if k}
        return self._without_docstring(node)

    def _without_docstring(self, node: ast.AST) -> ast.AST:
        body = getattr(node, "body", [])
        first = body[0] if body else None
        text = first.value if isinstance(first, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined] # only called on nodes with a body
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._without_docstring(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._without_docstring(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        node.arg = self._name(node.arg)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._name(node.id)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module == "__future__" else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign(targets=[node.target], value=node.value))

    def _name(self, name: str) -> str:
        if name not in self.own:
            return name
        return self.names.setdefault(name, f"v{len(self.names)}")
