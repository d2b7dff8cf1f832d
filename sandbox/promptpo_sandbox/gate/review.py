"""The rules of the gate, each applied once to each node.

A namespace only appears on the left of a dot, with a listed member on the right. Attributes of values are judged by
name. Whatever builds classes or takes text for names may only be written in a form that is known to be harmless, and
is never a value. No identifier begins with two underscores, in whatever node, except the name of a special method
where it is defined.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping

from promptpo_sandbox.gate import names
from promptpo_sandbox.gate.attributes import (
    SURE_SELF_ONLY,
    attribute_names_of,
    hint,
    why_read_refused,
    why_store_refused,
)
from promptpo_sandbox.gate.bindings import Bindings, import_bindings, is_alias, names_in_scopes
from promptpo_sandbox.gate.forms import MEMBERS, Forms, is_plain_template

Problem = tuple[int, str]
"""Line and sentence."""

REVIEWED = tuple(
    getattr(ast, kind)
    for kind in """
    Module FunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For While If With Raise Try Assert Import
    ImportFrom Global Nonlocal Expr Pass Break Continue
    BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set List Tuple ListComp SetComp DictComp GeneratorExp Yield
    YieldFrom Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name Slice
    operator unaryop boolop cmpop expr_context comprehension ExceptHandler arguments arg keyword alias withitem
    """.split()  # noqa: SIM905 - reads better as text
)
"""Kinds of nodes that a program may consist of."""

GUARD = "__own__"
"""Name of the function that checks an object at run time; a program cannot write it."""

_TYPES = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr),
    ast.Load,
)
_NOT_IN_CLASSES = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
"""Statements that would make a module an attribute of a class, and so a value, or a method a name of its own."""

_LOOKUPS = {"getattr": (2, 3), "hasattr": (2, 2), "setattr": (3, 3)}
_PLAIN_DECORATORS = (property, staticmethod)
"""Decorators that give nobody the undecorated method: that of a class method can be read from its ``cls``."""

_CALLED = frozenset({*_LOOKUPS, "type", "super"})
"""Names that can only be called, in one form."""


class Review:
    """Reviews every node of a module."""

    def __init__(self, tree: ast.Module, parents: Mapping[ast.AST, ast.AST], source: str) -> None:
        self._nodes = nodes = [tree, *parents]
        self.bindings = Bindings(nodes, parents)
        self._parents = parents
        self._defined = attribute_names_of(nodes)
        said = (getattr(node, field, None) for node in nodes for field in ("annotation", "returns"))
        self._annotations = {part for types in said if types is not None for part in ast.walk(types)}
        aliases = [node.value for node in nodes if is_alias(node, self.bindings)]  # type: ignore[attr-defined]
        self._aliased = {part for types in aliases for part in ast.walk(types)}
        self._types = self._annotations | self._aliased
        self._wrong: SyntaxError | None = None
        self._unknown: dict[str, str] = {}
        self._class_names: set[str] = set()
        try:
            self._unknown, self._class_names = names_in_scopes(source)
        except SyntaxError as error:
            self._wrong = error
        self.forms = Forms(self.bindings, self._class_names)

    def problems(self) -> list[Problem]:
        """Return line and sentence of each refused construct; raise SyntaxError if only the scopes are invalid."""
        found = [
            *(problem for node in self._nodes for problem in self._problems_at(node)),
            *self._find_shadowed(),
        ]
        if self._wrong is not None and not found:
            raise self._wrong
        return found

    def guard_stores(self) -> None:
        """Check each object at run time before its attribute is stored or deleted, except a `self` that is sure to be of its class."""
        for node in self._nodes:
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                of = node.value
                if not (of in self.bindings.selves and self._selves_are_sure):
                    guard = ast.copy_location(ast.Name(GUARD, ast.Load()), of)
                    node.value = ast.copy_location(ast.Call(guard, [of], []), of)

    def _problems_at(self, node: ast.AST) -> Iterator[Problem]:
        line = self._line(node)
        if not isinstance(node, REVIEWED) or getattr(node, "is_async", False):
            kind = type(node).__name__
            if isinstance(self._parents.get(node), REVIEWED):  # otherwise reported with its parent
                yield line, f"{kind} syntax is not allowed; write plain Python"
            return
        if node in self._types:
            if not isinstance(node, _TYPES):
                yield line, "an annotation only names types"
            elif isinstance(node, ast.Subscript) and not self.forms.is_type(node.value):
                yield line, "an annotation has brackets only behind a type of typing, numpy or Python"
        if isinstance(node, _NOT_IN_CLASSES) and self._is_in_class_body(node):
            word = type(node).__name__.removesuffix("From").lower()
            yield line, f"{word} cannot stand in the body of a class; write it outside"
        for name in _identifiers(node):
            if name.startswith("__") and not self._is_special(node, name):
                yield line, f"the special name {name} is not allowed{hint(name)}"
        rule = getattr(self, f"_at_{type(node).__name__.lower()}", None)
        if rule is not None:
            yield from ((line, text) for text in rule(node))

    def _is_in_class_body(self, node: ast.AST) -> bool:
        while not isinstance(node, ast.Module | ast.FunctionDef):
            node = self._parents[node]
            if isinstance(node, ast.ClassDef):
                return True
        return False

    def _line(self, node: ast.AST) -> int:
        while not hasattr(node, "lineno") and node in self._parents:
            node = self._parents[node]
        return getattr(node, "lineno", 0)

    def _find_shadowed(self) -> Iterator[Problem]:
        """Yield names that stand for two things, one of which has rules of its own."""
        known = self.bindings
        for name, node in {**known.statements, **known.rebound}.items():
            path = known.imports.get(name, "a builtin")
            if name in names.FORMS or (name in known.rebound and (path in names.MODULES or path in MEMBERS)):
                yield self._line(node), f"the name {name} stands for {path} here; choose another one"

    def _is_special(self, node: ast.AST, name: str) -> bool:
        """Whether a name that begins with two underscores stands where it may."""
        if isinstance(node, ast.FunctionDef):
            return name in names.SPECIAL_METHODS and isinstance(self._parents[node], ast.ClassDef)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            of = node.value.func if isinstance(node.value, ast.Call) else node.value
            bases = {"super"} if of is not node.value else self.bindings.classes
            return name == "__name__" or (name == "__init__" and isinstance(of, ast.Name) and of.id in bases)
        if isinstance(node, ast.Name):
            return name == "__name__" and isinstance(node.ctx, ast.Load)
        return isinstance(node, ast.ImportFrom) and name == "__future__"

    # Names and attributes

    def _at_name(self, node: ast.Name) -> Iterator[str]:
        if not isinstance(node.ctx, ast.Load):
            return
        path = self.bindings.path(node)
        if path is not None:
            yield from self._member(node, path)
        elif node.id in _CALLED and not self.forms.is_called(node, self._parents.get(node)):
            yield f"{node.id} can only be called"
        elif node.id in self.bindings.aliases and node not in self._types:
            yield f"{node.id} only says what type something has; it is no value"
        if reason := self._unknown.pop(node.id, ""):
            own = "; choose another name for your own" if node.id in self.bindings.rebound else ""
            yield f"{node.id} {reason}{own or hint(node.id)}"

    def _at_attribute(self, node: ast.Attribute) -> Iterator[str]:
        path, outer = self.bindings.path(node), self.bindings.path(node.value)
        loading = isinstance(node.ctx, ast.Load)
        if path is not None:
            module, _, member = path.rpartition(".")
            if not loading:
                yield f"{path} cannot be set; a module stays as it is"
            elif member not in names.MODULES[module] and path not in names.MODULES:
                yield f"{path} is not available{hint(member)}"
            else:
                yield from self._member(node, path)
            return
        if outer is not None and not loading:
            yield f"{outer}.{node.attr} cannot be set; a library stays as it is"
        called = self.forms.is_called(node, self._parents.get(node))
        template = node.attr == "format" and called and is_plain_template(node.value)
        if template or node.attr.startswith("__"):
            return
        problem = self._why_refused(node.value, node.attr, loading=loading)
        if problem:
            yield problem if outer is None else f"{outer}.{node.attr} is not available: {problem}"

    def _why_refused(self, value: ast.expr, name: str, *, loading: bool) -> str | None:
        """Return why an attribute of a value may not be read, or else not be stored; None if it may."""
        own = self.bindings.is_own(value) and (name not in SURE_SELF_ONLY or self._selves_are_sure)
        return why_read_refused(name, self._defined, own=own) if loading else why_store_refused(name, own=own)

    @functools.cached_property
    def _selves_are_sure(self) -> bool:
        """Whether a method's first parameter can only be of its class: methods are read from such a parameter only.

        Otherwise a program could take a method from a class, or have it from a decorator, and call it with an array.
        """
        methods, named = set(), {*self._class_names}
        for node in self._nodes:
            match node:
                case ast.FunctionDef(name=name) if isinstance(self._parents[node], ast.ClassDef):
                    methods.add(name)
                    if not all(self.forms.builtin(part) in _PLAIN_DECORATORS for part in node.decorator_list):
                        return False
                case ast.Attribute(value=value, attr=name) if value not in self.bindings.selves:
                    named.add(name)
                case ast.Call(args=[_, ast.Constant(value=str(name)), *_]):
                    named.add(name)
        return methods.isdisjoint(named)

    def _at_with(self, node: ast.With) -> Iterator[str]:
        heads = (getattr(item.context_expr, "func", None) for item in node.items)
        if any(head is None or self.bindings.path(head) != "numpy.errstate" for head in heads):
            yield "With syntax is not allowed; leave it out; a program has nothing that must be closed"

    def _member(self, node: ast.Name | ast.Attribute, path: str) -> Iterator[str]:
        """Check the use of a namespace or of one of its members."""
        if path in names.MODULES:
            if not isinstance(self._parents.get(node), ast.Attribute):
                yield f"the module {path} is not a value that can be passed on; write {path}.name where you need it"
            return
        of_typing = path.rpartition(".")[0] in names.ANNOTATIONS
        if node in self._annotations or (of_typing and node in self._aliased):
            return
        if problem := self.forms.problem(node, path):
            yield problem
        elif of_typing and path not in MEMBERS:
            yield f"{path} may only stand in an annotation; leave it out here"

    # Forms of calls, classes and imports

    def _at_call(self, node: ast.Call) -> Iterator[str]:
        func = node.func
        name = func.id if isinstance(func, ast.Name) else ""
        given = {keyword.arg for keyword in node.keywords}
        if "where" in given and "out" not in given:
            yield "where= leaves unset what it leaves out; use np.where, or give out= as well"
        own = name in self.bindings.classes | self.bindings.functions
        if None in given and not (own or self.forms.builtin(func) is dict):
            yield "** spreads arguments only into dict() and functions and classes of your own"
        if name in _LOOKUPS:
            yield from self._lookup(node, name)
        elif name == "type" and not self.forms.is_type_compared(node):
            yield "type(x) may only be compared or named, as in type(x) is int or type(x).__name__"
        elif name == "super" and (node.args or node.keywords):
            yield "super() takes nothing here"

    def _lookup(self, node: ast.Call, name: str) -> Iterator[str]:
        low, high = _LOOKUPS[name]
        second = node.args[1] if low <= len(node.args) <= high else None
        text = second.value if isinstance(second, ast.Constant) else None
        if (
            not isinstance(text, str)
            or not text.isidentifier()
            or node.keywords
            or isinstance(node.args[0], ast.Starred)
        ):
            yield f"{name} takes the attribute's name written out; for others use a dict"
            return
        if text.startswith("__"):
            yield f"the attribute {text} is not allowed{hint(text)}"
        if problem := self._why_refused(node.args[0], text, loading=name != "setattr"):
            yield problem

    def _at_classdef(self, node: ast.ClassDef) -> Iterator[str]:
        if node.keywords:
            yield "a class takes no keywords; leave them out"
        for base in node.bases:
            own = isinstance(base, ast.Name) and base.id in self.bindings.classes
            kind = self.forms.builtin(base)
            plain = kind is object or (isinstance(kind, type) and issubclass(kind, Exception))
            if not own and not plain and self.bindings.path(base) != "typing.NamedTuple":
                yield "a class inherits only from classes of your own, exceptions or NamedTuple; leave the base out"
        for decorator in node.decorator_list:
            head = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.bindings.path(head) != "dataclasses.dataclass":
                yield "a class has no decorator but @dataclass"

    def _at_import(self, node: ast.Import) -> Iterator[str]:
        for alias in node.names:
            if alias.name not in names.MODULES:
                yield _unavailable(alias.name)

    def _at_importfrom(self, node: ast.ImportFrom) -> Iterator[str]:
        module = node.module or ""
        if node.level:
            yield "relative imports are not allowed; a policy is one file"
        elif module not in names.MODULES:
            yield _unavailable(module)
        else:
            for alias, (_, path) in zip(node.names, import_bindings(node), strict=True):
                if alias.name == "*":
                    yield f"import * is not allowed; import {module} and use {module}.name"
                elif alias.name not in names.MODULES[module] and path not in names.MODULES:
                    yield f"{path} is not available{hint(alias.name)}"


def _identifiers(node: ast.AST) -> Iterator[str]:
    """Yield every name that a node itself spells, in whatever field."""
    if isinstance(node, ast.Constant):
        return
    for _, value in ast.iter_fields(node):
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                yield from name.split(".")


def _unavailable(module: str) -> str:
    top = module.split(".", maxsplit=1)[0]
    return f"the module {module} is not available{hint(top) or '; use one of ' + names.list_modules()}"
