"""Giving a top-level name of a module another name, everywhere it is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from promptpo.program.tree import Text, bound_by, bound_here, parse

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def rename(source: str, old: str, new: str) -> str:
    """The same module with a top-level name changed.

    Layout and comments stay, except where a name stands in a place whose position Python does not tell
    (inside of some f-strings, in patterns): there the module is written anew from its syntax tree.

    Args:
        source: A module that parses.
        old: A name that it binds at its top level.
        new: A name that occurs nowhere in it.
    """
    tree = parse(source)
    if tree is None:
        return source
    search = _References(old)
    search.visit(tree)
    text = Text(source)
    edits = [edit for node in search.found if (edit := _edit(text, node, old, new)) is not None]
    for node in search.found:
        _apply(node, old, new)
    renamed = text.replaced(edits)
    again = parse(renamed)
    if again is not None and _alike(again, tree):
        return renamed
    try:
        return ast.unparse(tree) + "\n"
    except ValueError:  # an integer that Python refuses to write
        return source


def _alike(one: ast.Module, other: ast.Module) -> bool:
    """Whether two trees are the same; taken to be where they cannot be written down, for huge integers."""
    try:
        return ast.dump(one) == ast.dump(other)
    except ValueError:
        return True


def identifiers(tree: ast.Module | None) -> frozenset[str]:
    """Every name that occurs in a module, in whatever role."""
    names: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        names.update(bound_by(node))
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            names.update(node.names)
    return frozenset(names)


@dataclass
class _Scope:
    """Where the search is: whether the name means something else there than at the top level."""

    is_class: bool
    hidden: bool


class _References(ast.NodeVisitor):
    """Finds the nodes in which a name means what the module binds at its top level."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[ast.AST] = []
        self.scopes = [_Scope(is_class=False, hidden=False)]

    def generic_visit(self, node: ast.AST) -> None:
        if self.name in bound_by(node):
            self._bound(node)
        elif (isinstance(node, ast.Name) and node.id == self.name and not self.scopes[-1].hidden) or (
            isinstance(node, ast.Global) and self.name in node.names
        ):
            self.found.append(node)
        super().generic_visit(node)

    def _bound(self, node: ast.AST) -> None:
        scope = self.scopes[-1]
        if scope.is_class:
            scope.hidden = True  # from here on the name is an attribute of the class
        elif not scope.hidden:
            self.found.append(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)  # evaluated first, which matters in a class
        for target in node.targets:
            self.visit(target)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node)

    def _function(self, node: _Function) -> None:
        arguments = node.args
        outside: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
        own = [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]
        outside += [argument.annotation for argument in own if argument]
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        if not isinstance(node, ast.Lambda):
            outside += [*node.decorator_list, node.returns]
        for part in outside:
            if part is not None:
                self.visit(part)
        if self.name in bound_by(node):
            self._bound(node)
        hidden = self._around()
        if any(argument.arg == self.name for argument in own if argument):
            hidden = True
        elif self._declared_global(body):
            hidden = False
        elif self.name in set(bound_here(body)) and not self._declared_nonlocal(body):
            hidden = True
        with self._inside(_Scope(is_class=False, hidden=hidden)):
            for statement in body:
                self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        if node.name == self.name:
            self._bound(node)
        with self._inside(_Scope(is_class=True, hidden=self._around())):
            for statement in node.body:
                self.visit(statement)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> None:
        self.visit(node.generators[0].iter)
        targets = {name for part in node.generators for name in bound_here([part.target])}
        hidden = self._around() or self.name in targets
        with self._inside(_Scope(is_class=False, hidden=hidden)):
            for n, part in enumerate(node.generators):
                parts = [part.target, *([part.iter] if n else []), *part.ifs]
                for item in parts:
                    self.visit(item)
            results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            for result in results:
                self.visit(result)

    def _around(self) -> bool:
        """Whether a function that begins here sees something else by the name."""
        return next(scope.hidden for scope in reversed(self.scopes) if not scope.is_class)

    def _declared_global(self, body: list[ast.stmt] | list[ast.expr]) -> bool:
        return any(self.name in node.names for node in _own_nodes(body) if isinstance(node, ast.Global))

    def _declared_nonlocal(self, body: list[ast.stmt] | list[ast.expr]) -> bool:
        return any(self.name in node.names for node in _own_nodes(body) if isinstance(node, ast.Nonlocal))

    @contextmanager
    def _inside(self, scope: _Scope) -> Iterator[None]:
        self.scopes.append(scope)
        yield
        self.scopes.pop()


def _own_nodes(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    """The nodes of a function's own scope."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))


def _edit(text: Text, node: ast.AST, old: str, new: str) -> tuple[int, int, str] | None:
    """The change of text that renames a node; None where its position is not known."""
    if isinstance(node, ast.Name):
        return text.start(node), text.end(node), new
    if isinstance(node, ast.alias):
        end = text.end(node)
        return (end - len(old.encode()), end, new) if node.asname else (end, end, f" as {new}")
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Global):
        word = re.compile(rb"\b" + re.escape(old.encode()) + rb"\b")
        found = word.search(text.data, text.start(node) + len(b"def"))
        return (found.start(), found.end(), new) if found else None
    return None


_NAMED = (
    ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
)


def _apply(node: ast.AST, old: str, new: str) -> None:
    """Rename in the tree."""
    if isinstance(node, ast.Name):
        node.id = new
    elif isinstance(node, ast.alias):
        node.asname = new
    elif isinstance(node, _NAMED):
        node.name = new
    elif isinstance(node, ast.MatchMapping):
        node.rest = new
    elif isinstance(node, ast.Global):
        node.names = [new if name == old else name for name in node.names]
