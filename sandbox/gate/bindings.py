"""What the names of a module stand for: imported modules and members, own classes, local variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Bindings:
    """What the names of one module stand for.

    Attributes:
        parents: The node that each node hangs from.
        imports: Dotted path of each name that an import binds, wherever it stands.
        rebound: Names that something else than an import binds, with the node that does it.
        classes: Names that class statements bind and nothing else.
        tuples: Names that calls of namedtuple bind and nothing else.
    """

    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    rebound: dict[str, list[ast.AST]] = field(default_factory=dict)
    classes: frozenset[str] = frozenset()
    tuples: frozenset[str] = frozenset()

    def path(self, node: ast.AST, namespaces: frozenset[str]) -> str | None:
        """The dotted path that an expression spells, such as "numpy.linalg.norm"; None for other values.

        Args:
            node: The expression.
            namespaces: Paths whose members have paths of their own.
        """
        if isinstance(node, ast.Name):
            return self.imports.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self.path(node.value, namespaces)
            if outer in namespaces:
                return f"{outer}.{node.attr}"
        return None

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def is_local(self, node: ast.Name) -> bool:
        """Whether a name that is read can only be a variable of a function around it, never a builtin."""
        below: ast.AST = node
        before: ast.AST = node
        innermost = True
        for scope in self.ancestors(node):
            if isinstance(scope, COMPREHENSIONS):
                first = scope.generators[0]
                around = below is first and before is first.iter  # evaluated outside the comprehension
                if not around and node.id in _targets(scope):
                    return True
            elif isinstance(scope, FUNCTIONS):
                outside = [*_outside(scope)]
                if not any(below is part for part in outside):
                    names, declared = _locals(scope)
                    if node.id in declared:
                        return False
                    if node.id in names:
                        return True
                    innermost = False
            elif isinstance(scope, ast.ClassDef) and innermost and _binds(scope, node.id):
                return False
            before, below = below, scope
        return False


def bindings_of(tree: ast.Module) -> Bindings:  # noqa: C901 - one look at each kind of statement
    """Look at every statement that binds a name."""
    found = Bindings()
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            found.parents[child] = node
    classes: set[str] = set()
    tuples: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(tree):
        for name, path in imported(node):
            if found.imports.setdefault(name, path) != path:
                found.rebound.setdefault(name, []).append(node)
        for name in _bound(node):
            if isinstance(found.parents.get(node), ast.ClassDef) and isinstance(node, ast.FunctionDef):
                continue  # a method
            found.rebound.setdefault(name, []).append(node)
            parent = found.parents.get(node)
            if isinstance(node, ast.ClassDef):
                (classes if name not in classes else others).add(name)
            elif isinstance(parent, ast.Assign) and _is_namedtuple(parent.value) and node in parent.targets:
                (tuples if name not in tuples else others).add(name)
            else:
                others.add(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not all(
            found.imports.get(getattr(_head(item), "id", "")) in _KEEPING and _head(item) is not None
            for item in node.decorator_list
        ):
            others.add(node.name)  # its decorator may have made anything of it
    found.classes = frozenset(classes - others - tuples - set(found.imports))
    found.tuples = frozenset(tuples - others - classes - set(found.imports))
    return found


_KEEPING = frozenset(
    {
        "dataclasses",
        "dataclasses.dataclass",
        "functools",
        "functools.total_ordering",
        "typing",
        "typing.final",
    }
    | {"enum", "enum.unique", "typing.runtime_checkable"}
)
"""Decorators that give the class back, and the modules that have them."""


def _head(decorator: ast.AST) -> ast.Name | None:
    """The name that a decorator begins with: dataclasses in ``@dataclasses.dataclass(frozen=True)``."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    if isinstance(decorator, ast.Attribute) and decorator.attr in {
        "dataclass",
        "total_ordering",
        "final",
        "unique",
    }:
        decorator = decorator.value
    return decorator if isinstance(decorator, ast.Name) else None


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that an import statement binds, and what they stand for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom) and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a node binds in some other way than by an import."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names


def _is_namedtuple(value: ast.AST) -> bool:
    function = value.func if isinstance(value, ast.Call) else None
    return getattr(function, "id", getattr(function, "attr", "")) == "namedtuple"


def _outside(function: Function) -> Iterator[ast.AST]:
    """The parts of a function's node that are evaluated around it, not in it."""
    if not isinstance(function, ast.Lambda):
        yield from function.decorator_list
        if function.returns is not None:
            yield function.returns
    yield function.args


def _targets(comprehension: ast.AST) -> set[str]:
    generators = getattr(comprehension, "generators", [])
    return {name.id for part in generators for name in ast.walk(part.target) if isinstance(name, ast.Name)}


def _binds(scope: ast.AST, name: str) -> bool:
    return name in _within(scope)[0]


def _locals(function: Function) -> tuple[set[str], set[str]]:
    """A function's own variables, and the names that it declares global."""
    arguments = function.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    names, declared = _within(function)
    return (names | {argument.arg for argument in every if argument is not None}) - declared, declared


def _within(scope: ast.AST) -> tuple[set[str], set[str]]:
    """Names that the statements of a scope bind, and those that they declare global; not those of scopes inside."""
    names: set[str] = set()
    declared: set[str] = set()
    body = scope.body  # type: ignore[attr-defined]
    left = list(body) if isinstance(body, list) else [body]
    while left:
        node = left.pop()
        if isinstance(node, ast.Global):
            declared.update(node.names)
            continue
        if isinstance(node, ast.Nonlocal):
            continue
        names.update(_bound(node))
        names.update(name for name, _ in imported(node))
        if isinstance(node, FUNCTIONS):
            left.extend(_outside(node))
        elif isinstance(node, COMPREHENSIONS):
            continue
        elif isinstance(node, ast.ClassDef):
            left.extend([*node.bases, *node.keywords, *node.decorator_list])
        else:
            left.extend(ast.iter_child_nodes(node))
    return names, declared
