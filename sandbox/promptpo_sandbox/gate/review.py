"""The rules of the gate, each asked once about each node.

A namespace is only ever the left side of a dot, with a member of the lists on the right. Attributes of values are
decided by name. What builds classes or takes text for names may only be written in the form that is known to be
harmless, and is never a value. No identifier begins with two underscores, whatever node spells it, but the name of a
special method where it is defined.
"""

from __future__ import annotations

import ast
import builtins
import string
from collections.abc import Callable, Iterator
from typing import Any

from promptpo_sandbox.gate import names
from promptpo_sandbox.gate.attributes import hint, read_problem
from promptpo_sandbox.gate.bindings import Bindings, imported, names_in_scopes
from promptpo_sandbox.gate.defined import defined_names
from promptpo_sandbox.gate.untyped import is_alias

Problem = tuple[int, str]
"""Line and sentence."""

REVIEWED = (
    *(ast.Module, ast.FunctionDef, ast.ClassDef, ast.Return, ast.Delete, ast.Assign, ast.AugAssign),
    *(ast.AnnAssign, ast.For, ast.While, ast.If, ast.Raise, ast.Try, ast.Assert, ast.Import, ast.ImportFrom),
    *(ast.Global, ast.Nonlocal, ast.Expr, ast.Pass, ast.Break, ast.Continue),
    *(ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.List),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.Compare),
    *(ast.Call, ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred),
    *(ast.Name, ast.Tuple, ast.Slice),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.comprehension),
    *(ast.ExceptHandler, ast.arguments, ast.arg, ast.keyword, ast.alias),
)
"""Kinds of nodes that a program may consist of."""

_TYPES = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr),
    ast.Load,
)
_LOOKUPS = {"getattr": (2, 3), "hasattr": (2, 2), "setattr": (3, 3)}
_CALLED = frozenset({*_LOOKUPS, "type", "super"})
"""Those that can only be called, in one form."""
_INSTEAD = {
    "Match": "write if and elif",
    "With": "leave it out; a program has nothing that must be closed",
    "TryStar": "use except",
    "comprehension": "leave async out",
}


class Review:
    """One look at every node of a module.

    Args:
        tree: The module, as it was written.
        nodes: All of its nodes.
        source: Its text.

    Attributes:
        bindings: What its names stand for.
    """

    def __init__(self, tree: ast.Module, nodes: list[ast.AST], source: str) -> None:
        self._nodes, self._source = nodes, source
        self.bindings = Bindings(nodes)
        self._parents = self.bindings.parents
        self._defined = defined_names(tree)
        self._exceptions = any(isinstance(node, ast.ExceptHandler) and node.name for node in nodes)
        self._annotations: set[ast.AST] = set()
        for node in nodes:
            where = "value" if is_alias(node, self.bindings) else "annotation"
            for said in (getattr(node, where, None), getattr(node, "returns", None)):
                self._annotations.update(ast.walk(said) if said is not None else ())
        self._class_names: set[str] = set()

    def problems(self) -> list[Problem]:
        """Line and sentence of each thing that is refused.

        Raises:
            SyntaxError: Nothing is refused, but the scopes make no sense.
        """
        wrong: SyntaxError | None = None
        unknown: dict[str, str] = {}
        try:
            unknown, self._class_names = names_in_scopes(self._source)
        except SyntaxError as error:
            wrong = error
        found = [problem for node in self._nodes for problem in self._problems_at(node, unknown)]
        found += self._taken()
        if wrong is not None and not found:
            raise wrong
        return found

    def _problems_at(self, node: ast.AST, unknown: dict[str, str]) -> Iterator[Problem]:
        line = self._line(node)
        if not isinstance(node, REVIEWED) or getattr(node, "is_async", False):
            kind = type(node).__name__
            if isinstance(self._parents.get(node), REVIEWED):  # else told with what it is part of
                yield line, f"{kind} syntax is not allowed; {_INSTEAD.get(kind, 'write plain Python')}"
            return
        if node in self._annotations and not isinstance(node, _TYPES):
            yield line, "an annotation only names types"
        for name in _identifiers(node):
            if name.startswith("__") and not self._is_special(node, name):
                yield line, f"the special name {name} is not allowed{hint(name)}"
        rule = _RULES.get(type(node))
        if rule is not None:
            yield from ((line, text) for text in rule(self, node))
        if isinstance(node, ast.Name) and node.id in unknown and isinstance(node.ctx, ast.Load):
            reason = unknown.pop(node.id)
            own = "; choose another name for your own" if node.id in self.bindings.rebound else ""
            yield line, f"{node.id} {reason}{own or hint(node.id)}"

    def _line(self, node: ast.AST) -> int:
        while not hasattr(node, "lineno") and node in self._parents:
            node = self._parents[node]
        return getattr(node, "lineno", 0)

    def _taken(self) -> Iterator[Problem]:
        """Names that stand for two things, one of them with rules of its own."""
        known = self.bindings
        for name, node in {**known.statements, **known.rebound}.items():
            path = known.imports.get(name, "a builtin")
            twice = name in known.ambiguous or name in known.rebound
            if name in names.FORMS or (twice and (path in names.MODULES or path in _MEMBERS)):
                yield self._line(node), f"the name {name} stands for {path} here; choose another one"

    def _is_special(self, node: ast.AST, name: str) -> bool:
        """Whether a name with two underscores stands where it may."""
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

    def name(self, node: ast.Name) -> Iterator[str]:
        """A variable, a namespace, a member or a builtin."""
        path = self.bindings.path(node)
        if path is not None and isinstance(node.ctx, ast.Load):
            yield from self._member(node, path)
        elif node.id in _CALLED and isinstance(node.ctx, ast.Load) and self._call_of(node) is None:
            yield f"{node.id} can only be called"

    def attribute(self, node: ast.Attribute) -> Iterator[str]:
        """``value.attr``: a member of a namespace, or decided by its name."""
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
        template = node.attr == "format" and self._call_of(node) and _is_plain_template(node.value)
        if template or node.attr.startswith("__"):
            return
        problem = read_problem(node.attr, self._defined, exceptions=self._exceptions)
        if problem:
            yield problem if outer is None else f"{outer}.{node.attr} is not available: {problem}"

    def _member(self, node: ast.Name | ast.Attribute, path: str) -> Iterator[str]:
        """A use of a namespace or of something that a namespace has."""
        parent = self._parents.get(node)
        if path in names.MODULES:
            if not isinstance(parent, ast.Attribute):
                yield f"the module {path} is not a value that can be passed on; write {path}.name where you need it"
            return
        if node in self._annotations:
            return
        if path in _MEMBERS:
            rule, form = _MEMBERS[path]
            if not rule(self, node):
                yield f"{path} {form}"
        elif path.rpartition(".")[0] in names.ANNOTATIONS:
            yield f"{path} may only stand in an annotation; leave it out here"

    # The forms of members that are no plain functions

    def _is_dataclass(self, node: ast.AST) -> bool:
        call = self._call_of(node)
        owner = self._parents.get(call or node)
        plain = call is None or (
            not call.args and all(k.arg and isinstance(k.value, ast.Constant) for k in call.keywords)
        )
        return plain and isinstance(owner, ast.ClassDef) and owner.decorator_list == [call or node]

    def _is_field(self, node: ast.AST) -> bool:
        call = self._call_of(node)
        assignment = self._parents.get(call) if call else None
        return (
            isinstance(assignment, ast.AnnAssign)
            and assignment.value is call
            and isinstance(assignment.target, ast.Name)
            and assignment.target.id not in self._class_names
            and isinstance(owner := self._parents[assignment], ast.ClassDef)
            and bool(owner.decorator_list)
        )

    def _is_namedtuple(self, node: ast.AST) -> bool:
        call = self._call_of(node)
        if call is None or len(call.args) != 2 or any(k.arg != "defaults" for k in call.keywords):  # noqa: PLR2004
            return False
        parts = [*ast.walk(call.args[0]), *ast.walk(call.args[1])]
        return all(isinstance(part, ast.Constant | ast.List | ast.Tuple | ast.Load) for part in parts)

    def _is_base_of_class(self, node: ast.AST) -> bool:
        parent = self._parents.get(node)
        return isinstance(parent, ast.ClassDef) and parent.bases == [node]

    def _is_asked_for(self, node: ast.AST) -> bool:
        """Whether a type is what isinstance is asked for, or compared by ``is``."""
        parent = self._parents.get(node)
        if isinstance(parent, ast.Tuple):
            node, parent = parent, self._parents.get(parent)
        if isinstance(parent, ast.Compare):
            return _by_identity(parent)
        asks = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name)
        return asks and parent.func.id == "isinstance" and node in parent.args[1:]  # type: ignore[union-attr]

    # What calls, classes and imports may look like

    def call(self, node: ast.Call) -> Iterator[str]:
        """A call: of what takes text for names, with arguments that are spread, with ``where``."""
        func = node.func
        name = func.id if isinstance(func, ast.Name) else ""
        given = {keyword.arg for keyword in node.keywords}
        if "where" in given and "out" not in given:
            yield "where= leaves unset what it leaves out; use np.where, or give out= as well"
        own = name in self.bindings.classes or isinstance(self.bindings.rebound.get(name), ast.FunctionDef)
        if None in given and not (own or name == "dict"):
            yield "** spreads arguments only into dict() and functions and classes of your own"
        if name in _LOOKUPS:
            yield from self._lookup(node, name)
        elif name == "type" and not self._is_type_compared(node):
            yield "type(x) may only be compared or named, as in type(x) is int or type(x).__name__"
        elif name == "super" and (node.args or node.keywords):
            yield "super() takes nothing here"

    def _lookup(self, node: ast.Call, name: str) -> Iterator[str]:
        low, high = _LOOKUPS[name]
        second = node.args[1] if low <= len(node.args) <= high else None
        text = second.value if isinstance(second, ast.Constant) else None
        if not isinstance(text, str) or node.keywords or isinstance(node.args[0], ast.Starred):
            yield f"{name} takes the attribute's name written out; for others use a dict"
            return
        if text.startswith("__"):
            yield f"the attribute {text} is not allowed{hint(text)}"
        problem = read_problem(text, self._defined | {text}, exceptions=self._exceptions)
        if problem:
            yield problem

    def _is_type_compared(self, node: ast.Call) -> bool:
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            return False
        parent = self._parents.get(node)
        if isinstance(parent, ast.Attribute):
            return parent.attr == "__name__"
        sides = [parent.left, *parent.comparators] if isinstance(parent, ast.Compare) else []
        others = all(self._is_builtin_type(side) for side in sides if side is not node)
        return isinstance(parent, ast.Compare) and (others or _by_identity(parent))

    def _is_builtin_type(self, node: ast.AST) -> bool:
        """Whether nothing of the module's own answers when a type is compared with this."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return all(map(self._is_builtin_type, node.elts))
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "type"
        return isinstance(self._builtin(node), type)

    def _builtin(self, node: ast.AST) -> Any:
        """The builtin that a name stands for; None for a name of the module's own, and for other expressions."""
        if not isinstance(node, ast.Name) or node.id in self.bindings.rebound:
            return None
        return None if node.id in self.bindings.imports else getattr(builtins, node.id, None)

    def class_(self, node: ast.ClassDef) -> Iterator[str]:
        """A class: plain, an exception, a dataclass or a named tuple."""
        if node.keywords:
            yield "a class takes no keywords; leave them out"
        for base in node.bases:
            own = isinstance(base, ast.Name) and base.id in self.bindings.classes
            kind = self._builtin(base)
            plain = kind is object or (isinstance(kind, type) and issubclass(kind, Exception))
            if not own and not plain and self.bindings.path(base) != "typing.NamedTuple":
                yield "a class inherits only from classes of your own, exceptions or NamedTuple; leave the base out"
        for decorator in node.decorator_list:
            head = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.bindings.path(head) != "dataclasses.dataclass":
                yield "a class has no decorator but @dataclass"

    def import_(self, node: ast.Import) -> Iterator[str]:
        """``import numpy as np``."""
        for alias in node.names:
            if alias.name not in names.MODULES:
                yield _unavailable(alias.name)

    def import_from(self, node: ast.ImportFrom) -> Iterator[str]:
        """``from math import sin``."""
        module = node.module or ""
        if node.level:
            yield "relative imports are not allowed; a policy is one file"
        elif module not in names.MODULES:
            yield _unavailable(module)
        else:
            for alias, (_, path) in zip(node.names, imported(node), strict=True):
                if alias.name == "*":
                    yield f"import * is not allowed; import {module} and use {module}.name"
                elif alias.name not in names.MODULES[module] and path not in names.MODULES:
                    yield f"{path} is not available{hint(alias.name)}"

    def _call_of(self, node: ast.AST) -> ast.Call | None:
        """The call of which an expression is the function."""
        parent = self._parents.get(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None


def _identifiers(node: ast.AST) -> Iterator[str]:
    """Every name that a node spells itself, in whatever field."""
    if isinstance(node, ast.Constant):
        return
    for _, value in ast.iter_fields(node):
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                yield from name.split(".")


def _by_identity(node: ast.Compare) -> bool:
    return all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)


def _unavailable(module: str) -> str:
    top = module.split(".", maxsplit=1)[0]
    return f"the module {module} is not available{hint(top) or '; use one of ' + names.allowed_modules()}"


def _is_plain_template(value: ast.AST) -> bool:
    """Whether ``"...".format`` is of a literal whose fields read neither attributes nor items."""
    if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return False
    try:
        fields = list(string.Formatter().parse(value.value))
    except ValueError:
        return False
    return all(
        name is None or (not set(name) & set(".[") and not set(spec or "") & set("{}"))
        for _, name, spec, _ in fields
    )


_RULES: dict[type, Callable[[Review, Any], Iterator[str]]] = {
    ast.Name: Review.name,
    ast.Attribute: Review.attribute,
    ast.Call: Review.call,
    ast.ClassDef: Review.class_,
    ast.Import: Review.import_,
    ast.ImportFrom: Review.import_from,
}
_MEMBERS: dict[str, tuple[Callable[[Review, ast.AST], bool], str]] = {
    "dataclasses.dataclass": (
        Review._is_dataclass,  # noqa: SLF001 - the class above
        "may only stand above a class, with arguments that are written out",
    ),
    "dataclasses.field": (
        Review._is_field,  # noqa: SLF001
        "may only be the value of an annotated field of a dataclass, such as x: list = field(...)",
    ),
    "collections.namedtuple": (
        Review._is_namedtuple,  # noqa: SLF001
        'has its fields written out: Point = namedtuple("Point", ["x", "y"])',
    ),
    "typing.NamedTuple": (
        Review._is_base_of_class,  # noqa: SLF001
        "may only be the base of a class, such as class Name(NamedTuple)",
    ),
    **dict.fromkeys(
        ("numpy.ndarray", "numpy.dtype", "numpy.random.Generator"),
        (
            Review._is_asked_for,  # noqa: SLF001
            "may only say what type something has, in an annotation or in isinstance",
        ),
    ),
}
"""What builds classes, or memory: whether it stands as it may, and how that is."""
RESTRICTED = _MEMBERS.keys() | names.FORMS
"""What may be written in certain forms only, and is never a value."""
