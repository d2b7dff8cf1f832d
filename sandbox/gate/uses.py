"""Names that may only be used in certain places, because what they can do depends on what they are given.

A namespace is only ever the left side of a dot. What builds classes, rewrites functions or turns text into
attributes (``dataclass``, ``Enum``, ``wraps``, ``getattr`` ...) may only be written in the form that is known
to be harmless, and is never a value that could be called elsewhere.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator

from sandbox.gate import names
from sandbox.gate.attributes import TAKEN, hint, read_problem
from sandbox.gate.bindings import FUNCTIONS, Bindings, imported
from sandbox.gate.params import SafeKeys

NAMESPACES = frozenset(names.MODULES)
Problem = tuple[int, str]


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
        if path is None and isinstance(node, ast.Name) and node.id in _BUILTIN_RULES:
            return node.id
        return path

    def _rebound(self) -> Iterator[Problem]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and node.name in _BUILTIN_RULES:
                yield node.lineno, f"the name {node.name} is taken; choose another name for the function"
        for name, nodes in self.bindings.rebound.items():
            if name in _BUILTIN_RULES:
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
                if name in _BUILTIN_RULES or (first != path and {first, path} & _ALL_RULES):
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
            yield from _class_problems(self, node)
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
            return f"{node.id} cannot be set; choose another name" if path in _BUILTIN_RULES else None
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
        if isinstance(parent, ast.Call) and node in parent.args[:1] and self.path(parent.func) in _LOOKUPS:
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


Node = ast.Name | ast.Attribute
Rule = Callable[[UseReview, Node, str], str | None]


# Types, bases, decorators


def _type_only(review: UseReview, node: Node, path: str) -> str | None:
    if review.in_type(node):
        return None
    return f"{path} may only say what type something has, in an annotation or in isinstance{hint(path)}"


def _base_only(review: UseReview, node: Node, path: str) -> str | None:
    if review.in_bases(node) or review.in_type(node):
        return None
    return f"{path} may only be the base of a class statement, such as class Name({path.rpartition('.')[2]})"


def _class_problems(review: UseReview, node: ast.ClassDef) -> Iterator[str]:
    enum = False
    for base in node.bases:
        origin = base.value if isinstance(base, ast.Subscript) else base
        path = review.path(origin)
        enum = enum or path in _ENUMS
        known = (
            path in _BASES
            if path is not None
            else isinstance(origin, ast.Name)
            and (origin.id in review.bindings.classes | review.bindings.tuples or origin.id in _BUILTIN_BASES)
        )
        call = isinstance(origin, ast.Call) and review.path(origin.func) == "collections.namedtuple"
        if not (known or call):
            yield f"a class cannot inherit from {ast.unparse(base)[:60]}; inherit from a class of your own or leave it out"
    if enum:
        yield from _enum_problems(review, node)


def _enum_problems(review: UseReview, node: ast.ClassDef) -> Iterator[str]:
    """An enumeration without members can be called to build classes."""
    targets = [
        target.id
        for statement in node.body
        if isinstance(statement, ast.Assign) and _is_member_value(review, node, statement.value)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]
    if not any(not name.startswith("_") for name in targets):
        yield f"the enumeration {node.name} has no members with plain values; write them out, such as GO = 1"
    for part in ast.walk(node):
        if isinstance(part, ast.Delete) or (isinstance(part, ast.Name) and part.id == "_ignore_"):
            yield "an enumeration keeps its members; leave out del and _ignore_"


def _is_member_value(review: UseReview, owner: ast.ClassDef, value: ast.AST) -> bool:
    if isinstance(value, ast.Call):
        methods = {part.name for part in owner.body if isinstance(part, ast.FunctionDef)}
        return review.path(value.func) == "enum.auto" and not methods & {"auto", "enum"}
    if isinstance(value, ast.UnaryOp):
        return _is_member_value(review, owner, value.operand)
    if isinstance(value, ast.Tuple):
        return all(_is_member_value(review, owner, item) for item in value.elts)
    return isinstance(value, ast.Constant)


def _dataclass(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    target = review.decorated(call or node)
    if not isinstance(target, ast.ClassDef):
        return f"{path} may only decorate a class statement: write @dataclass above it"
    if target.decorator_list[-1] is not (call or node):
        return f"{path} must be the last decorator of a class"
    if call and (call.args or not all(k.arg and isinstance(k.value, ast.Constant) for k in call.keywords)):
        return f"the arguments of {path} are written out, such as @dataclass(frozen=True)"
    return None


def _field(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    assignment = review.bindings.parents.get(call) if call else None
    owner = review.bindings.parents.get(assignment) if assignment else None
    if (
        isinstance(assignment, ast.AnnAssign)
        and assignment.value is call
        and isinstance(assignment.target, ast.Name)
        and isinstance(owner, ast.ClassDef)
        and any(_calls_dataclass(review, item) for item in owner.decorator_list)
    ):
        name = assignment.target.id
        named = (n for n in ast.walk(owner) if isinstance(n, ast.Name) and n.id == name)
        reads = [n for n in named if not _within_function(review, n, owner)]
        return (
            None if len(reads) == 1 else f"the field {name} is used in its class's body; set it in a method"
        )
    return (
        f"{path}() may only be the value of an annotated field of a dataclass, such as x: list = field(...)"
    )


def _within_function(review: UseReview, node: ast.AST, owner: ast.AST) -> bool:
    """Whether a name stands in the body of a function inside a class, not among what the class's body evaluates."""
    below = node
    for parent in review.bindings.ancestors(node):
        if parent is owner:
            return False
        if isinstance(parent, ast.FunctionDef) and below in parent.body:
            return True
        below = parent
    return False


def _calls_dataclass(review: UseReview, decorator: ast.AST) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return review.path(function) == "dataclasses.dataclass"


def _wraps(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    if call and len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
        return None
    return f"{path} takes one function and nothing else: write @wraps(function)"


def _namedtuple(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    if call and len(call.args) == 2 and all(k.arg == "defaults" for k in call.keywords):  # noqa: PLR2004
        parts = [*ast.walk(call.args[0]), *ast.walk(call.args[1])]
        if all(isinstance(part, ast.Constant | ast.List | ast.Tuple | ast.Load) for part in parts):
            return None
    return f'the fields of {path} are written out: Point = namedtuple("Point", ["x", "y"])'


def _simple_namespace(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    if call is None:
        return _type_only(review, node, path)
    unnamed = [keyword.value for keyword in call.keywords if keyword.arg is None]
    if not call.args and all(review.keys.are_safe(value) for value in unnamed):
        return None
    return f"the attributes of {path} are written out, such as SimpleNamespace(kp=1.0); use a dict for others"


def _errstate(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    if call and review.decorated(call):
        return None
    if call and isinstance(review.bindings.parents.get(call), ast.withitem):
        around = review.function_around(call)
        inner = (n for n in ast.walk(around) if isinstance(n, ast.Yield | ast.YieldFrom))
        if not any(review.function_around(n) is around for n in inner):
            return None
        return f"{path} cannot be used in a generator; use it in a function that returns"
    return f"{path} may only be used in a with statement, such as with np.errstate(divide='ignore'):"


def _result(review: UseReview, node: Node, path: str) -> str | None:
    """Results whose items are attributes as well: only their attributes may be read."""
    call = review.call_of(node)
    if call is None:
        return f"{path} can only be called, not passed on"
    named = {keyword.arg for keyword in call.keywords}
    if None in named or named & {"callback", "full_output", "workers"} or len(call.args) > 5:  # noqa: PLR2004
        return f"{path} takes no callback, full_output, workers or ** here; leave them out"
    if path in _RANDOM and not named & {"seed", "rng"}:
        return f"{path} needs a seed: write seed=0"
    if path in _PLAIN_UNLESS_FULL:
        return None
    parent = review.bindings.parents.get(call)
    if isinstance(parent, ast.Attribute):
        return None
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if isinstance(target, ast.Name):
        around = review.function_around(call)
        uses = [n for n in ast.walk(around) if isinstance(n, ast.Name) and n.id == target.id]
        if (
            isinstance(around, FUNCTIONS)
            and all(
                isinstance(review.bindings.parents[use], ast.Attribute)
                if isinstance(use.ctx, ast.Load)
                else not isinstance(review.bindings.parents[use], ast.AugAssign)
                for use in uses
            )
            and not any(
                isinstance(n, ast.Global | ast.Nonlocal) and target.id in n.names for n in ast.walk(around)
            )
        ):
            return None
    return f"only attributes of what {path} returns can be used: in a function, result = {path}(...), then result.x"


# Builtins that turn text into attributes or build classes


def _type(review: UseReview, node: Node, _path: str) -> str | None:
    if review.in_type(node):
        return None
    call = review.call_of(node)
    if call is None or len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return "type may only be called with one argument; write a class statement instead"
    parent = review.bindings.parents.get(call)
    if isinstance(parent, ast.Attribute):
        return None if parent.attr == "__name__" else "only __name__ of type(x) is available; name the class"
    if isinstance(parent, ast.FormattedValue | ast.Expr) or review.in_type(call):
        return None
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and call in parent.args:
        shown = parent.func.id in {"str", "repr", "print"} and parent.func.id not in review.bindings.rebound
        return None if shown and not _has_method(review, parent.func.id) else _TYPE_AS_VALUE
    return _TYPE_AS_VALUE


def _has_method(review: UseReview, name: str) -> bool:
    return any(isinstance(n, ast.FunctionDef) and n.name == name for n in ast.walk(review.tree))


_TYPE_AS_VALUE = (
    "type(x) may only be compared or named, as in type(x) is int or type(x).__name__; name the class"
)


def _lookup(review: UseReview, node: Node, path: str) -> str | None:
    """Getattr and hasattr, with the name written out."""
    call = review.call_of(node)
    if call is None or len(call.args) < 2 or call.keywords:  # noqa: PLR2004
        return f"{path} can only be called, with the attribute's name written out"
    name = call.args[1]
    space = review.path(call.args[0])
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        if path == "hasattr":
            return None
        if space in NAMESPACES:
            allowed = name.value in names.MODULES[space or ""] and f"{space}.{name.value}" not in _ALL_RULES
            return None if allowed else f"{space}.{name.value} is not available to {path}"
        if name.value.startswith("__"):
            return f"the attribute {name.value} is not allowed{hint(name.value)}"
        return read_problem(name.value, review.defined | {name.value}, exceptions=review.exceptions)
    prefix = _literal_prefix(name)
    if space not in NAMESPACES and _begins_well(prefix):
        return None
    return (
        f"the name for {path} is written out, or begins so, as in {path}(self, f'mode_{{i}}'); or use a dict"
    )


def _setattr(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    if call is None or len(call.args) != 3 or call.keywords:  # noqa: PLR2004
        return f"{path} can only be called, with the attribute's name written out"
    target, name, _ = call.args
    if review.path(target) is not None or not isinstance(target, ast.Name):
        return f"{path} may only set attributes of your own objects, such as self"
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        if name.value.startswith("__"):
            return f"the attribute {name.value} is not allowed"
        return read_problem(name.value, review.defined | {name.value}, exceptions=review.exceptions)
    prefix = _literal_prefix(name)
    if _begins_well(prefix):
        return None
    if isinstance(name, ast.Name) and review.keys.is_key(name):
        return None
    return f"the name for {path} is written out, or is a key of PARAMS: for name in PARAMS: setattr(self, name, params[name])"


def _begins_well(prefix: str) -> bool:
    """Whether no attribute that leads out begins with this text."""
    long_enough = len(prefix) > 1 and not prefix.startswith("__")
    return long_enough and not any(taken.startswith(prefix) for taken in TAKEN | {"obj"})


def _literal_prefix(name: ast.AST) -> str:
    """The text that a computed text begins with, as far as it is written out."""
    if isinstance(name, ast.JoinedStr) and name.values:
        return _literal_prefix(name.values[0])
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return _literal_prefix(name.left)
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


_TYPE_COMPARISONS = ast.Is | ast.IsNot | ast.Eq | ast.NotEq | ast.In | ast.NotIn
_LOOKUPS = frozenset({"getattr", "hasattr"})
_BUILTIN_RULES: dict[str, Rule] = {
    "type": _type,
    "getattr": _lookup,
    "hasattr": _lookup,
    "setattr": _setattr,
}
_BUILTIN_RULES |= dict.fromkeys(("isinstance", "issubclass"), lambda _review, _node, _path: None)
_REFUSED_BUILTINS = (
    frozenset(dir(builtins))
    | frozenset(["aiter", "anext", "copyright", "credits", "exit", "help", "license", "quit", "reveal_type"])
) - (names.BUILTINS | set(_BUILTIN_RULES) | {"print"})
_REFUSED_BUILTINS = frozenset(name for name in _REFUSED_BUILTINS if not name.startswith("__"))
_ENUMS = frozenset(f"enum.{name}" for name in ("Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"))
_BASES = (
    _ENUMS
    | {"abc.ABC", "random.Random", "decimal.Decimal", "fractions.Fraction", "numpy.linalg.LinAlgError"}
    | {f"collections.{name}" for name in ("ChainMap", "Counter", "OrderedDict", "defaultdict", "deque")}
    | {f"collections.abc.{name}" for name in names.MODULES["collections.abc"]}
    | {
        f"typing.{name}"
        for name in [
            "Generic",
            "Protocol",
            "NamedTuple",
            "TypedDict",
            "Dict",
            "List",
            "Sequence",
            "Mapping",
            "Iterator",
            "Iterable",
            "Callable",
        ]
    }
)
_BUILTIN_BASES = frozenset(
    name
    for name in names.BUILTINS
    if isinstance(kind := getattr(builtins, name, None), type)
    and (
        issubclass(kind, BaseException)
        or kind in {object, dict, list, tuple, set, frozenset, str, int, float, complex}
    )
)
_BUILTIN_TYPES = frozenset(
    n for n in names.BUILTINS | {"type"} if isinstance(getattr(builtins, n, None), type)
)
_RANDOM = frozenset({"scipy.optimize.differential_evolution"})
_PLAIN_UNLESS_FULL = frozenset({"scipy.optimize.brentq", "scipy.optimize.newton"})
_RESULTS = (
    _RANDOM
    | _PLAIN_UNLESS_FULL
    | {
        "scipy.integrate.solve_ivp",
        *(
            f"scipy.optimize.{name}"
            for name in ["least_squares", "linprog", "lsq_linear", "minimize", "minimize_scalar", "root"]
        ),
    }
)
RULES: dict[str, Rule] = {
    "dataclasses.dataclass": _dataclass,
    "dataclasses.field": _field,
    "enum.auto": lambda _review, _node, _path: None,  # so that nothing else may have its name
    "functools.wraps": _wraps,
    "collections.namedtuple": _namedtuple,
    "types.SimpleNamespace": _simple_namespace,
    "numpy.errstate": _errstate,
    "numpy.ndarray": _type_only,
    "numpy.random.Generator": _type_only,
    "typing.Type": _type_only,
    "typing.NamedTuple": _base_only,
    "typing.TypedDict": _base_only,
    **dict.fromkeys(_ENUMS, _base_only),
    **dict.fromkeys(_RESULTS, _result),
    **_BUILTIN_RULES,
}
_ALL_RULES = frozenset(RULES) | NAMESPACES
