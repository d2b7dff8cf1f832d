"""RestrictedPython's tree walk with our decisions: allow-lists of names at compile time, few guards at run time.

RestrictedPython turns every attribute access, subscript, iteration and call with ``*`` into a call of a
guard function. That costs a policy a factor of 1.5 to 4.6 in speed. Here the guards are left out, because
no function that turns text into an attribute is within reach: every attribute name stands in the tree, so
the decision falls once, when it is checked. A name that the policy defines for itself although some exposed
type has it as well (``self.data``, ``self.base``) keeps a guard that demands an object of the policy's own.
"""

# ruff: noqa: N802, N815 - ast prescribes the names of visitors

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable
from typing import Any

from RestrictedPython.transformer import RestrictingNodeTransformer, copy_locations

from sandbox.gate import names
from sandbox.gate.attributes import hint, read_problem
from sandbox.gate.bindings import Bindings
from sandbox.gate.exposed import EXPOSED
from sandbox.gate.rule import NAMESPACES

READ_GUARD = "<read>"
"""Not an identifier, so that no policy can name it: ``<read>(obj, "data")``."""
WRITE_GUARD = "<write>"
"""``<write>(obj, "data").data = value``."""
UPDATE_GUARD = "<update>"
"""``<update>(self, mapping)`` for ``self.__dict__.update(mapping)``."""
TYPE = "<type>"
OWN_TYPES = "<own types>"
OWN_GUARD = "<own>"
"""``if <type>(self) not in <own types>: <own>(self)``, where a method sets attributes of its first argument."""

Node = Any


class PolicyTransformer(RestrictingNodeTransformer):
    """Checks a module and rewrites the few places that need a guard.

    Args:
        defined: Attribute names that the module defines, see `sandbox.gate.defined`.
        bindings: What the module's names stand for.
        safe_keys: Whether the argument of ``self.__dict__.update`` has keys that are written out.
        exceptions: Whether the module has exceptions as values.
    """

    def __init__(
        self,
        defined: frozenset[str],
        bindings: Bindings,
        safe_keys: Callable[[ast.AST], bool],
        *,
        exceptions: bool,
    ) -> None:
        super().__init__()
        self.defined = defined
        self.bindings = bindings
        self.safe_keys = safe_keys
        self.exceptions = exceptions
        self.problems: list[tuple[int, str]] = []
        self._receivers: list[str | None] = []
        self._in_class = False

    def error(self, node: Node, info: str) -> None:
        """Record what is refused, with its line."""
        self.problems.append((getattr(node, "lineno", 0), info))

    def not_allowed(self, node: Node) -> None:
        """Record a statement or expression that nobody has reviewed, or that is refused."""
        self.error(
            node, _REFUSED_NODES.get(type(node).__name__, f"{type(node).__name__} syntax is not allowed")
        )

    def _plain(self, node: Node) -> Node:
        return self.node_contents_visit(node)

    # Guards that are elided because names are decided here.
    visit_Subscript = visit_AugAssign = visit_comprehension = visit_For = visit_With = _plain
    visit_Module = visit_AnnAssign = visit_Set = visit_TypeIgnore = _plain
    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_JoinedStr = _plain
    visit_Match = visit_match_case = visit_MatchValue = visit_MatchSingleton = visit_MatchSequence = _plain
    visit_MatchOr = visit_Param = _plain

    # Names

    def check_name(self, node: Node, name: str | None, allow_magic_methods: bool = False) -> None:
        """A variable, argument, function or class name."""
        if name is None or not name.startswith("__") or not name.endswith("__"):
            return
        loading = isinstance(getattr(node, "ctx", None), ast.Load)
        if name in {"__all__", "__version__", "__author__", "__slots__"} or (name == "__name__" and loading):
            return
        if allow_magic_methods and name in names.SPECIAL_METHODS:
            return
        self.error(node, f"the special name {name} is not allowed{hint(name)}")

    def visit_Name(self, node: ast.Name) -> Node:
        """A variable."""
        self.check_name(node, node.id, allow_magic_methods=self._in_class)
        return node

    def visit_Global(self, node: ast.Global) -> Node:
        """``global name``."""
        for name in node.names:
            self.check_name(node, name)
        return node

    visit_Nonlocal = visit_Global  # type: ignore[assignment]

    def visit_Assign(self, node: ast.Assign) -> Node:
        """An assignment; ``__slots__`` names attributes by text."""
        if any(isinstance(target, ast.Name) and target.id == "__slots__" for target in node.targets):
            for part in ast.walk(node.value):
                if not isinstance(part, ast.Constant | ast.Tuple | ast.List | ast.Load):
                    self.error(node, 'the attributes in __slots__ are written out, such as ("x", "y")')
                elif isinstance(part, ast.Constant) and str(part.value).startswith("__"):
                    self.error(node, f"the attribute {part.value!r} is not allowed in __slots__")
        return self.node_contents_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> Node:
        """``value.attr``: allowed, guarded or refused by its name."""
        name = node.attr
        if self.bindings.path(node, NAMESPACES) is not None:
            return self.node_contents_visit(node)  # reviewed with the other uses of namespaces
        node = self.node_contents_visit(node)
        if not self._readable(node, name):
            return node
        loading = isinstance(node.ctx, ast.Load)
        if name in names.ATTRIBUTES or name in names.READABLE_SPECIALS:
            needs_guard = not loading and not self._is_receiver(node.value)
        else:
            needs_guard = name in _GUARDED or (not loading and not self._is_receiver(node.value))
        if not needs_guard:
            return node
        guard = ast.Call(
            func=ast.Name(READ_GUARD if loading else WRITE_GUARD, ast.Load()),
            args=[node.value, ast.Constant(name)],
            keywords=[],
        )
        if loading:
            copy_locations(guard, node)
            return guard
        copy_locations(guard, node.value)
        node.value = guard
        return node

    def _readable(self, node: ast.Attribute, name: str) -> bool:
        """Whether the name passes at all; the problem is recorded if not."""
        problem = read_problem(name, self.defined, exceptions=self.exceptions)
        if problem is None and name in names.READABLE_SPECIALS and not isinstance(node.ctx, ast.Load):
            problem = f"the attribute {name} cannot be set"
        if problem is None:
            return True
        try:
            spelled = ast.unparse(node)
        except (ValueError, RecursionError):  # a guard within
            spelled = ""
        if _SPELLED.fullmatch(spelled) and spelled.split(".", maxsplit=1)[0] in self.bindings.imports:
            problem = f"{spelled} is not available: {problem}"
        self.error(node, problem)
        return False

    def _is_receiver(self, value: Node) -> bool:
        """Whether an expression is the method's own first argument, such as ``self``."""
        return isinstance(value, ast.Name) and bool(self._receivers) and value.id == self._receivers[-1]

    # Calls

    def visit_Call(self, node: ast.Call) -> Node:
        """A call; the two that turn text into attributes are checked here."""
        func = node.func
        if isinstance(func, ast.Attribute):
            if func.attr == "update" and self._is_own_dict(func.value):
                given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)]
                if not all(self.safe_keys(value) for value in given):
                    self.error(
                        node,
                        "self.__dict__.update takes PARAMS, or the params that the constructor is given, "
                        "and nothing may change them before; set the attributes one by one",
                    )
                node.func = copy_of(ast.Name(UPDATE_GUARD, ast.Load()), func)
                node.args = [func.value.value, *node.args]  # type: ignore[attr-defined]
                return self.node_contents_visit(node)
            if func.attr == "format" and _is_plain_template(func.value):
                node.args = [self.visit(arg) for arg in node.args]
                node.keywords = [self.visit(keyword) for keyword in node.keywords]
                return node
        return self.node_contents_visit(node)

    def _is_own_dict(self, value: Node) -> bool:
        return (
            isinstance(value, ast.Attribute)
            and value.attr == "__dict__"
            and isinstance(value.value, ast.Name)
            and value.value.id not in self.bindings.imports
        )

    # Definitions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Node:
        """A function; as a method its first argument may be written to without a guard."""
        self.check_name(node, node.name, allow_magic_methods=self._in_class)
        return self._function(node, method=self._in_class)

    def visit_Lambda(self, node: ast.Lambda) -> Node:
        """A lambda."""
        return self._function(node, method=False)

    def _function(self, node: Node, *, method: bool) -> Node:
        self.check_function_argument_names(node)
        arguments = [*node.args.posonlyargs, *node.args.args]
        receiver = arguments[0].arg if method and arguments and not _is_static(node) else None
        if receiver is not None and _rebinds(node, receiver):
            receiver = None
        outer, self._in_class = self._in_class, False
        self._receivers.append(receiver)
        node = self.node_contents_visit(node)
        self._receivers.pop()
        self._in_class = outer
        if receiver is not None and _sets_attributes(node, receiver):
            node.body.insert(_start(node.body), _own_check(node, receiver))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Node:
        """A class; no metaclass but those its bases bring."""
        self.check_name(node, node.name)
        for keyword in node.keywords:
            if keyword.arg not in {"total", "frozen"}:
                self.error(node, "class keywords such as metaclass are not allowed; use plain inheritance")
        outer, self._in_class = self._in_class, True
        self._receivers.append(None)
        node = self.node_contents_visit(node)
        self._receivers.pop()
        self._in_class = outer
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Node:
        """``except ... as name``."""
        self.check_name(node, node.name)
        return self.node_contents_visit(node)

    # Match patterns read attributes and bind names by text.

    def visit_MatchClass(self, node: ast.MatchClass) -> Node:
        """``case Point(x=0)``: its attribute names are read without a guard."""
        for name in node.kwd_attrs:
            if name.startswith("__") or (name in EXPOSED and name not in names.ATTRIBUTES):
                self.error(node, f"the attribute {name} in a match pattern is not allowed{hint(name)}")
            else:
                problem = read_problem(name, self.defined, exceptions=self.exceptions)
                if problem:
                    self.error(node, problem)
        return self.node_contents_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> Node:
        """``case pattern as name``."""
        self.check_name(node, node.name)
        return self.node_contents_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> Node:
        """``case [first, *rest]``."""
        self.check_name(node, node.name)
        return self.node_contents_visit(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> Node:
        """``case {"key": value, **rest}``."""
        self.check_name(node, node.rest)
        return self.node_contents_visit(node)

    # Imports

    def visit_Import(self, node: ast.Import) -> Node:
        """``import numpy as np``."""
        for alias in node.names:
            if alias.name in names.OBJECTS:
                self.error(node, f"{alias.name} is not a module; import {alias.name.rpartition('.')[0]}")
            self._check_module(node, alias.name)
            self.check_name(node, alias.asname)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Node:
        """``from math import sin``."""
        module = node.module or ""
        if node.level:
            self.error(node, "relative imports are not allowed; a policy is one file")
        elif self._check_module(node, module):
            for alias in node.names:
                if alias.name == "*":
                    self.error(node, f"import * is not allowed; import {module} and use {module}.name")
                elif (
                    alias.name not in names.MODULES[module] and f"{module}.{alias.name}" not in names.MODULES
                ):
                    self.error(node, f"{module}.{alias.name} is not available{hint(alias.name)}")
                self.check_name(node, alias.asname)
        return node

    def _check_module(self, node: Node, module: str) -> bool:
        if module in names.MODULES:
            return True
        top = module.split(".", maxsplit=1)[0]
        self.error(node, f"the module {module} is not available{hint(top) or '; use one of ' + _MODULE_LIST}")
        return False


def copy_of(new: Node, old: Node) -> Node:
    """The new node at the old one's place."""
    copy_locations(new, old)
    return new


def _is_static(function: Node) -> bool:
    return any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in function.decorator_list)


def _sets_attributes(function: Node, receiver: str) -> bool:
    """Whether the body sets attributes of the first argument without a guard."""
    return any(
        isinstance(node, ast.Attribute)
        and not isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == receiver
        for statement in function.body
        for node in ast.walk(statement)
    )


def _start(body: list[ast.stmt]) -> int:
    """Where a function's statements begin, behind its docstring."""
    first = body[0]
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))


def _own_check(function: Node, receiver: str) -> ast.stmt:
    """A look at the type of the first argument: a method can be called with anything."""
    kind = ast.Call(ast.Name(TYPE, ast.Load()), [ast.Name(receiver, ast.Load())], [])
    test = ast.Compare(kind, [ast.NotIn()], [ast.Name(OWN_TYPES, ast.Load())])
    call = ast.Call(ast.Name(OWN_GUARD, ast.Load()), [ast.Name(receiver, ast.Load())], [])
    check = ast.If(test, [ast.Expr(call)], [])
    for node in ast.walk(check):
        if isinstance(node, ast.stmt | ast.expr):
            copy_locations(node, function.body[0])
    return check


def _rebinds(function: Node, name: str) -> bool:
    """Whether a function assigns its own first argument, so that it may be anything."""
    return any(
        isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        for n in ast.walk(function)
    )


def _is_plain_template(value: Node) -> bool:
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


_MODULE_LIST = (
    "numpy, math, random, collections, itertools, functools, heapq, dataclasses, typing, enum, copy, scipy"
)
_MODULE_MEMBERS: frozenset[str] = frozenset().union(*names.MODULES.values()) | {
    part for module in names.MODULES for part in module.split(".")[1:]
}
_GUARDED = EXPOSED - _MODULE_MEMBERS
_SPELLED = re.compile(r"[\w.]+")
_REFUSED_NODES = {
    "AsyncFunctionDef": "async functions are not allowed; write plain functions",
    "Await": "await is not allowed; write plain functions",
    "AsyncFor": "async for is not allowed; use for",
    "AsyncWith": "async with is not allowed; use with",
    "TryStar": "except* is not allowed; use except",
    "TypeAlias": "type statements are not allowed; leave the alias out",
    "TemplateStr": "template strings are not allowed; use f-strings",
}
