"""Bindings of a module's names: imported modules and members, own classes, variables, builtins."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TypeGuard

from promptpo_sandbox.gate import names


def parents_in(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    """Return the parent of each node below a module, breadth first; nodes that many share, such as ``Load``, count once."""
    parents: dict[ast.AST, ast.AST] = {}
    queue: list[ast.AST] = [tree]
    for node in queue:
        children = [*ast.iter_child_nodes(node)]
        parents.update(dict.fromkeys(children, node))
        queue += children
    return parents


class Bindings:
    """The meaning of each name in a module, found in one pass over its nodes.

    Attributes:
        parents: The parent of each node.
        imports: Dotted path of each name that an import binds, wherever it stands.
        statements: The last statement that imports it.
        rebound: Names bound by anything but a single import, with the first node that does so.
        classes: Names bound by class statements only.
        functions: Names bound by undecorated function definitions only.
        instances: Names that are only ever assigned a new object of one of these classes.
        aliases: Names of types, as in ``State = Tuple[int, int]``.
        selves: Uses of a method's first parameter, if nothing else in the method binds it.
    """

    def __init__(self, nodes: list[ast.AST], parents: Mapping[ast.AST, ast.AST]) -> None:
        self.parents = parents
        self.imports: dict[str, str] = {}
        self.statements: dict[str, ast.AST] = {}
        self.rebound: dict[str, ast.AST] = {}
        binders: dict[str, list[ast.AST]] = defaultdict(list)
        for node in nodes:
            for name, path in import_bindings(node):
                if self.imports.setdefault(name, path) != path:
                    self.rebound.setdefault(name, node)
                self.statements[name] = node
            own = bound(node)
            if own and (own in names.FORMS or not self._is_method(node)):
                self.rebound.setdefault(own, node)
                binders[own].append(node)

        def bound_by(are_all: Callable[[list[ast.AST]], bool]) -> set[str]:
            return {name for name, found in binders.items() if are_all(found)} - self.imports.keys()

        self.classes = bound_by(lambda found: all(isinstance(node, ast.ClassDef) for node in found))
        self.functions = bound_by(lambda found: all(map(_is_undecorated, found)))
        self.instances = bound_by(
            lambda found: {_maker(self.parents[node]) for node in found} <= self.classes
        )
        self.aliases = {node.targets[0].id for node in nodes if is_alias(node, self)}  # type: ignore[attr-defined]
        self.selves = {use for node in nodes if self._is_method(node) for use in _uses_of_self(node)}

    def _is_method(self, node: ast.AST) -> TypeGuard[ast.FunctionDef]:
        return isinstance(node, ast.FunctionDef) and isinstance(self.parents[node], ast.ClassDef)

    def is_own(self, node: ast.AST) -> bool:
        """Whether an expression is surely one of the program's own classes, or an object of one."""
        known = self.classes | self.instances
        return node in self.selves or (isinstance(node, ast.Name) and node.id in known)

    def path(self, node: ast.AST) -> str | None:
        """Return the dotted path that an expression spells, such as "numpy.linalg.norm"; None for other values."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self.path(node.value)
            if outer in names.MODULES:
                return f"{outer}.{node.attr}"
        return None


def _uses_of_self(method: ast.FunctionDef) -> list[ast.Name]:
    """Return the uses of a method's first parameter; none if it may stand for anything but an object of its class."""
    inner = [part for statement in method.body for part in ast.walk(statement)]
    binds = {
        name
        for part in inner
        for name in (bound(part), *dict(import_bindings(part)), *getattr(part, "names", ()))
    }
    static = "staticmethod" in map(ast.unparse, method.decorator_list)
    first = [arg.arg for arg in (*method.args.posonlyargs, *method.args.args)][:1]
    known = set() if static else {*first} - binds
    return [part for part in inner if isinstance(part, ast.Name) and part.id in known]


def _is_undecorated(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and not node.decorator_list


def is_alias(node: ast.AST, bindings: Bindings) -> bool:
    """Whether a statement defines an alias of a type, such as ``State = Tuple[int, int]``."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Subscript(value=head)):
            module, _, _ = (bindings.path(head) or "").rpartition(".")
            return module in names.ANNOTATIONS and isinstance(bindings.parents[node], ast.Module)
    return False


def _maker(node: ast.AST) -> str:
    """Return the name of the function that an assignment calls for its value; empty for other statements."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id=name))):
            return name
    return ""


def import_bindings(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that an import statement binds, and their dotted paths."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom) and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def bound(node: ast.AST) -> str | None:
    """Return the name that a node binds other than by an import."""
    if isinstance(node, ast.Name):
        return None if isinstance(node.ctx, ast.Load) else node.id
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
        return node.name
    return node.arg if isinstance(node, ast.arg) else None


def names_in_scopes(source: str) -> tuple[dict[str, str], set[str]]:
    """Return names that are undefined or could mean a builtin not meant for programs, each with the reason.

    Also return the names that some class body both binds and reads. Raise SyntaxError if Python's analysis does.
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
