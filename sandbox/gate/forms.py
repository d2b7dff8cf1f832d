"""The forms in which what builds classes, rewrites functions or returns live objects may be written."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sandbox.gate import names
from sandbox.gate.attributes import hint
from sandbox.gate.bindings import FUNCTIONS

if TYPE_CHECKING:
    from sandbox.gate.rule import Node, Rule
    from sandbox.gate.uses import UseReview


def _type_only(review: UseReview, node: Node, path: str) -> str | None:
    if review.in_type(node):
        return None
    return f"{path} may only say what type something has, in an annotation or in isinstance{hint(path)}"


def _base_only(review: UseReview, node: Node, path: str) -> str | None:
    if review.in_bases(node) or review.in_type(node):
        return None
    return f"{path} may only be the base of a class statement, such as class Name({path.rpartition('.')[2]})"


def class_problems(review: UseReview, node: ast.ClassDef) -> Iterator[str]:
    """What a class may not inherit from, and what an enumeration lacks."""
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
            yield f"a class cannot inherit from {_written(base)}; inherit from a class of your own or leave it out"
    if enum:
        yield from _enum_problems(review, node)


def _written(node: ast.AST) -> str:
    """An expression as text for a sentence."""
    try:
        return ast.unparse(node)[:60]
    except ValueError:  # an integer that Python refuses to write
        return "that"


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
FORMS: dict[str, Rule] = {
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
}
