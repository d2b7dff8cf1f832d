"""What the names of a module stand for: imported modules and members, own classes, variables, builtins."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

from promptpo_sandbox.gate import names


class Bindings:
    """What each name of a module stands for; one look at every node.

    Args:
        nodes: All nodes of the tree.

    Attributes:
        parents: The node that each node hangs from.
        imports: Dotted path of each name that an import binds, wherever it stands.
        statements: The last statement that imports it.
        rebound: Names that something else than an import binds, with the first node that does it.
        ambiguous: Names that imports bind to different paths.
        classes: Names that class statements bind and nothing else.
    """

    def __init__(self, nodes: list[ast.AST]) -> None:
        self.parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self.imports: dict[str, str] = {}
        self.statements: dict[str, ast.AST] = {}
        self.rebound: dict[str, ast.AST] = {}
        self.ambiguous: set[str] = set()
        classes: set[str] = set()
        others: set[str] = set()
        for node in nodes:
            for name, path in imported(node):
                if self.imports.setdefault(name, path) != path:
                    self.ambiguous.add(name)
                self.statements[name] = node
            own = bound(node)
            if own and not (
                isinstance(node, ast.FunctionDef)
                and isinstance(self.parents[node], ast.ClassDef)
                and own not in names.FORMS
            ):
                self.rebound.setdefault(own, node)
                (classes if isinstance(node, ast.ClassDef) else others).add(own)
        self.classes = classes - others - set(self.imports)

    def path(self, node: ast.AST) -> str | None:
        """The dotted path that an expression spells, such as "numpy.linalg.norm"; None for other values."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self.path(node.value)
            if outer in names.MODULES:
                return f"{outer}.{node.attr}"
        return None


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that an import statement binds, and what they stand for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom) and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def bound(node: ast.AST) -> str | None:
    """The name that a node binds in some other way than by an import."""
    if isinstance(node, ast.Name):
        return None if isinstance(node.ctx, ast.Load) else node.id
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
        return node.name
    return node.arg if isinstance(node, ast.arg) else None


def names_in_scopes(source: str) -> tuple[dict[str, str], set[str]]:
    """Names that nothing defines or that could mean a builtin which is not for programs, each with the reason.

    And the names that some class's body both binds and reads.

    Raises:
        SyntaxError: Python's own analysis of the scopes finds something wrong.
    """
    tables = [symtable.symtable(source, "policy", "exec")]
    for table in tables:
        tables.extend(table.get_children())
    module = {s.get_name() for s in tables[0].get_symbols() if s.is_assigned() or s.is_imported()}
    read: set[str] = set()
    in_classes: set[str] = set()
    for table in tables:
        function = table.get_type() == "function"
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if symbol.is_declared_global() and (symbol.is_assigned() or symbol.is_imported()):
                module.add(name)
            if symbol.is_referenced() and (not function or symbol.is_global()):
                own = table.get_type() == "class" and symbol.is_assigned()
                (in_classes if own else read).add(name)
    known = module | names.BUILTINS | {"__name__"}
    problems = {name: "is not defined here" for name in read - known if not name.startswith("__")}
    return problems | dict.fromkeys((read | in_classes) & _REFUSED, "is not available"), in_classes


_REFUSED = (
    frozenset(name for name in dir(builtins) if not name.startswith("__"))
    | frozenset("aiter anext copyright credits exit help license quit reveal_type".split())  # noqa: SIM905
) - names.BUILTINS
