"""Names that may only be used in certain places, because what they can do depends on what they are given.

A namespace is only ever the left side of a dot. What builds classes, rewrites functions or turns text into
attributes (``dataclass``, ``Enum``, ``wraps``, ``getattr`` ...) may only be written in the form that is known
to be harmless, and is never a value that could be called elsewhere; the forms are in `sandbox.gate.forms` and
`sandbox.gate.lookups`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from sandbox.gate import names
from sandbox.gate.attributes import hint
from sandbox.gate.bindings import FUNCTIONS, Bindings, imported
from sandbox.gate.forms import FORMS, class_problems
from sandbox.gate.lookups import BUILTIN_RULES, LOOKUPS
from sandbox.gate.params import SafeKeys
from sandbox.gate.rule import NAMESPACES, Problem, Rule

RULES: dict[str, Rule] = {**FORMS, **BUILTIN_RULES}
"""What is asked about each use of a name, by what the name spells."""

_RULED = frozenset(RULES) | NAMESPACES
_TYPE_COMPARISONS = ast.Is | ast.IsNot | ast.Eq | ast.NotEq | ast.In | ast.NotIn
_BUILTIN_TYPES = frozenset(
    n for n in names.BUILTINS | {"type"} if isinstance(getattr(builtins, n, None), type)
)
_REFUSED_BUILTINS = (
    frozenset(dir(builtins))
    | frozenset(["aiter", "anext", "copyright", "credits", "exit", "help", "license", "quit", "reveal_type"])
) - (names.BUILTINS | set(BUILTIN_RULES) | {"print"})
_REFUSED_BUILTINS = frozenset(name for name in _REFUSED_BUILTINS if not name.startswith("__"))


class UseReview:
    """Looks at every use of a reviewed name in a module.

    Args:
        tree: The module, as it was written.
        bindings: What its names stand for.
        defined: Attribute names that it defines.
        exceptions: Whether it has exceptions as values.
    """

    def __init__(
        self, tree: ast.Module, bindings: Bindings, defined: frozenset[str], *, exceptions: bool
    ) -> None:
        self.tree = tree
        self.bindings = bindings
        self.defined = defined
        self.exceptions = exceptions
        self.keys = SafeKeys(tree, bindings)

    def problems(self) -> Iterator[Problem]:
        """Line and sentence of each use that is refused."""
        yield from self._rebound()
        yield from self._imported_twice()
        for node in ast.walk(self.tree):
            line = getattr(node, "lineno", 0)
            yield from ((line, text) for text in self._problems_at(node) if text)

    def path(self, node: ast.AST) -> str | None:
        """What an expression spells, see `Bindings.path`; builtins as "type"."""
        path = self.bindings.path(node, NAMESPACES)
        if path is None and isinstance(node, ast.Name) and node.id in BUILTIN_RULES:
            return node.id
        return path

    def has_rule(self, path: str) -> bool:
        """Whether what is spelled so may not be used everywhere."""
        return path in _RULED

    def _rebound(self) -> Iterator[Problem]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and node.name in BUILTIN_RULES:
                yield node.lineno, f"the name {node.name} is taken; choose another name for the function"
        for name, nodes in self.bindings.rebound.items():
            if name in BUILTIN_RULES:
                yield (
                    getattr(nodes[0], "lineno", 0),
                    f"the name {name} is taken; give the variable another name",
                )
            path = self.bindings.imports.get(name, "")
            if path not in NAMESPACES and path not in RULES:
                continue
            for node in nodes:
                if isinstance(node, ast.Name) and self._is_none(node):
                    continue  # except ImportError: scipy = None
                text = f"the name {name} stands for {path} here; give the variable another name"
                yield getattr(node, "lineno", 0), text

    def _imported_twice(self) -> Iterator[Problem]:
        """Names that stand for different things, one of them with rules of its own."""
        for node in ast.walk(self.tree):
            for name, path in imported(node):
                first = self.bindings.imports[name]
                if name in BUILTIN_RULES or (first != path and {first, path} & _RULED):
                    yield (
                        getattr(node, "lineno", 0),
                        f"the name {name} stands for two things; choose another one",
                    )

    def _is_none(self, node: ast.Name) -> bool:
        parent = self.bindings.parents[node]
        return (
            isinstance(parent, ast.Assign)
            and isinstance(parent.value, ast.Constant)
            and parent.value.value is None
        )

    def _problems_at(self, node: ast.AST) -> Iterator[str | None]:
        if isinstance(node, ast.ClassDef):
            yield from class_problems(self, node)
        elif isinstance(node, ast.keyword):
            if node.arg and node.arg.startswith("__"):
                yield f"the argument name {node.arg} is not allowed; choose another name"
        elif isinstance(node, ast.Name | ast.Attribute):
            yield self._name_problem(node)

    def _name_problem(self, node: ast.Name | ast.Attribute) -> str | None:
        path = self.path(node)
        if path is None:
            return self._builtin_problem(node) if isinstance(node, ast.Name) else None
        loading = isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Attribute):
            module, _, member = path.rpartition(".")
            if not loading:
                return f"{path} cannot be set; a module stays as it is"
            if member not in names.MODULES[module]:
                return f"{path} is not available{hint(member)}"
        elif not loading:
            return f"{node.id} cannot be set; choose another name" if path in BUILTIN_RULES else None
        if path in NAMESPACES:
            return self._namespace_problem(node, path)
        outer = self.bindings.parents.get(node)
        if isinstance(outer, ast.Attribute) and not isinstance(outer.ctx, ast.Load):
            return f"{path}.{outer.attr} cannot be set; a library stays as it is"
        rule = RULES.get(path)
        return rule(self, node, path) if rule else None

    def _builtin_problem(self, node: ast.Name) -> str | None:
        """Builtins that are not for policies; in an exported file they are there."""
        if node.id not in _REFUSED_BUILTINS or not isinstance(node.ctx, ast.Load):
            return None
        if self.bindings.is_local(node):
            return None
        own = "; choose another name for your own" if node.id in self.bindings.rebound else ""
        return f"{node.id} is not available{own or hint(node.id)}"

    def _namespace_problem(self, node: ast.Name | ast.Attribute, path: str) -> str | None:
        parent = self.bindings.parents.get(node)
        if isinstance(parent, ast.Attribute):
            return None
        if isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops):
            return None
        if isinstance(parent, ast.Call) and node in parent.args[:1] and self.path(parent.func) in LOOKUPS:
            return None  # judged with the call
        kind = "the object" if path in names.OBJECTS else "the module"
        return f"{kind} {path} is not a value that can be passed on; write {path}.name where you need it"

    # Where a node stands

    def in_type(self, node: ast.AST) -> bool:
        """Whether an expression only says what type something has: an annotation, isinstance, a comparison."""
        below = node
        for parent in self.bindings.ancestors(node):
            if isinstance(parent, ast.AnnAssign | ast.arg):
                return below is parent.annotation
            if isinstance(parent, ast.FunctionDef):
                return below is parent.returns
            if isinstance(parent, ast.MatchClass):
                return below is parent.cls
            if isinstance(parent, ast.Call):
                return below in parent.args[1:] and self.path(parent.func) in {"isinstance", "issubclass"}
            if isinstance(parent, ast.Compare):
                return self.compares_types(parent)
            if isinstance(parent, ast.Subscript):
                fits = below is parent.value or self._is_type(parent.value)
            elif isinstance(parent, ast.BinOp):
                fits = (
                    isinstance(parent.op, ast.BitOr)
                    and self._is_type(parent.left)
                    and self._is_type(parent.right)
                )
            else:
                fits = isinstance(parent, ast.Tuple | ast.List)
            if not fits:
                return False
            below = parent
        return False

    def compares_types(self, node: ast.Compare) -> bool:
        """Whether a comparison is between types, so that no object of the module's own gets hold of one."""
        return all(isinstance(op, _TYPE_COMPARISONS) for op in node.ops) and all(
            self._is_type(side) for side in (node.left, *node.comparators)
        )

    def _is_type(self, node: ast.AST) -> bool:
        """Whether an expression can only be a type, or a collection of types that is written out."""
        if isinstance(node, ast.Call):
            return self.path(node.func) == "type"
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return all(self._is_type(item) for item in node.elts)
        if isinstance(node, ast.Subscript):
            return self._is_type(node.value)
        if isinstance(node, ast.BinOp):
            return self._is_type(node.left) and self._is_type(node.right)
        if isinstance(node, ast.Name):
            builtin = node.id in _BUILTIN_TYPES and node.id not in self.bindings.rebound
            member = node.id in self.bindings.imports and node.id not in self.bindings.rebound
            return builtin or member or node.id in self.bindings.classes | self.bindings.tuples
        return isinstance(node, ast.Constant) or self.path(node) is not None

    def in_bases(self, node: ast.AST) -> bool:
        """Whether an expression is a base of a class statement."""
        parent = self.bindings.parents.get(node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return self.in_bases(parent)
        return isinstance(parent, ast.ClassDef) and node in parent.bases

    def call_of(self, node: ast.AST) -> ast.Call | None:
        """The call of which an expression is the function."""
        parent = self.bindings.parents.get(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def decorated(self, node: ast.AST) -> ast.ClassDef | ast.FunctionDef | None:
        """The definition that an expression decorates."""
        parent = self.bindings.parents.get(node)
        if isinstance(parent, ast.ClassDef | ast.FunctionDef) and node in parent.decorator_list:
            return parent
        return None

    def function_around(self, node: ast.AST) -> ast.AST:
        """The innermost function around a node, or the module."""
        return next((n for n in self.bindings.ancestors(node) if isinstance(n, FUNCTIONS)), self.tree)
