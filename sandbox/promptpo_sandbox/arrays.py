"""Arrays in ``PARAMS``: read from the source, named element by element, and reassembled for the policy.

Outside the policy every element has a name of its own, ``W[1,3]`` for row 1 and column 3 of ``W``, so that parameter
values are always floats by name. The policy receives ``W`` as an array.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

MOST_NUMBERS = 1000
"""Maximum size of an array; a larger one can be neither tuned within our budgets nor read."""

MOST_AXES = 3

MAKERS = ("zeros", "ones", "full", "array", "asarray")
"""Functions of numpy that may write an array."""

_ELEMENT = re.compile(r"(.*)\[(\d{1,4}(?:,\d{1,4})*)\]", re.DOTALL)

Shape = tuple[int, ...]

_NONE: frozenset[str] = frozenset()


def read_array(node: ast.expr) -> tuple[Shape, list[float]] | None:
    """Return the shape and the numbers, in row-major order, of an expression for an array; nothing is run.

    Accepted are nested lists, repeated ones (``[0.0] * 17``, ``[[0.0] * 17 for _ in range(2)]``), and `MAKERS` called
    with literals. None for everything else: a single number, ragged or empty lists, more than `MOST_NUMBERS` numbers.
    """
    try:
        return _array(node)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def is_meant_as_array(node: ast.expr) -> bool:
    """Whether an expression looks like an array, even if `read_array` cannot read it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return is_meant_as_array(node.left) or is_meant_as_array(node.right)
    return isinstance(node, ast.List | ast.Tuple | ast.ListComp) or _maker(node) != ""


def element_names(name: str, shape: Shape) -> list[str]:
    """Return the name of each element of an array, in row-major order."""
    return [f"{name}[{','.join(map(str, place))}]" for place in product(*map(range, shape))]


def array_of(name: Any) -> str:
    """Return the name of the array to which an element's name belongs; empty for a single number."""
    found = _ELEMENT.fullmatch(name) if isinstance(name, str) else None
    return found[1] if found else ""


def assemble(params: Mapping[str, float] | None, declared: Any = None) -> dict[str, Any]:
    """Assemble a constructor's argument: single numbers by name, and arrays from the names of their elements.

    Args:
        params: Values by name.
        declared: The module's ``PARAMS``, because the name of a single number may look like an element's.
    """
    params = params or {}
    if not any(name.endswith("]") for name in params):
        return dict(params)
    known = (
        frozenset(n for n in declared if array_of(n) not in declared) if isinstance(declared, dict) else _NONE
    )
    given: dict[str, Any] = {}
    for name, shape, parts in _layout(tuple(params), known):
        if shape:
            given[name] = np.array([params[part] for part in parts], dtype=float).reshape(shape)
        else:
            given[name] = params[name]
    return given


def as_text(shape: Shape, numbers: Sequence[float]) -> str:
    """Format numbers as nested lists; if there are several innermost lists, each is on a line of its own."""
    if len(shape) == 1:
        return f"[{', '.join(map(repr, numbers))}]"
    size = math.prod(shape[1:])
    rows = [as_text(shape[1:], numbers[i : i + size]) for i in range(0, len(numbers), size)]
    return f"[{(',' + chr(10)).join(rows)}]"


@lru_cache(maxsize=64)
def _layout(names: tuple[str, ...], known: frozenset[str]) -> list[tuple[str, Shape, list[str]]]:
    """Group names into arguments of a constructor, with the shape and elements of arrays; incomplete arrays stay apart."""
    groups: dict[str, list[str]] = {}
    for name in names:
        array = "" if name in known else array_of(name)
        groups.setdefault(array or name, []).append(name)
    found: list[tuple[str, Shape, list[str]]] = []
    for name, parts in groups.items():
        shape = () if parts == [name] else _shape_of(parts)
        if shape and parts == element_names(name, shape):
            found.append((name, shape, parts))
        else:
            found += [(part, (), []) for part in parts]
    return found


def _shape_of(parts: Collection[str]) -> Shape:
    places = [tuple(map(int, match[2].split(","))) for match in map(_ELEMENT.fullmatch, parts) if match]
    if len({len(place) for place in places}) != 1:
        return ()
    shape = tuple(max(axis) + 1 for axis in zip(*places, strict=True))
    return shape if math.prod(shape) == len(parts) else ()


def _array(node: ast.expr) -> tuple[Shape, list[float]] | None:
    maker = _maker(node)
    if maker and isinstance(node, ast.Call):
        return _read_maker(maker, node)
    value = _read_nested(node)
    if not isinstance(value, list):
        return None
    shape = _shape(value)
    if not 0 < math.prod(shape) <= MOST_NUMBERS or len(shape) > MOST_AXES:
        return None
    numbers = [float(number) for number in _flat(value)]
    return (shape, numbers) if all(map(math.isfinite, numbers)) else None


def _maker(node: ast.expr) -> str:
    """Return the name of the function in `MAKERS` that a node calls; empty if it calls none."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("np" | "numpy"), name)) if name in MAKERS:
            return name
    return ""


def _read_maker(maker: str, call: ast.Call) -> tuple[Shape, list[float]] | None:
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg != "dtype"}
    if not _floats(call):
        return None
    arguments = list(call.args)
    if maker in {"array", "asarray"}:
        return _array(arguments[0]) if len(arguments) == 1 and not given else None
    arguments += [given.pop(name) for name in ("shape", "fill_value") if name in given]
    if given or len(arguments) != 1 + (maker == "full"):
        return None
    size = ast.literal_eval(arguments[0])
    shape = (size,) if isinstance(size, int) else tuple(size)
    plain = all(type(n) is int and n > 0 for n in shape)
    if not plain or not 0 < len(shape) <= MOST_AXES or math.prod(shape) > MOST_NUMBERS:
        return None
    value = float(_read_nested(arguments[1])) if maker == "full" else float(maker == "ones")
    return (shape, [value] * math.prod(shape)) if math.isfinite(value) else None


def _floats(call: ast.Call) -> bool:
    """Whether a call creates an array of floats, which is the default."""
    kinds = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    names = [kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "") for kind in kinds]
    return all(name.startswith("float") for name in names)


def _read_nested(node: ast.expr) -> Any:
    """Return a number, or nested lists of numbers with repetitions expanded.

    Raises:
        ValueError: It is neither, or too long.
    """
    match node:
        case ast.List(items) | ast.Tuple(items) if len(items) <= MOST_NUMBERS:
            return [_read_nested(item) for item in items]
        case ast.BinOp(left, ast.Mult(), right):
            first, second = _read_nested(left), _read_nested(right)
            return _repeat(first, second) if isinstance(first, list) else _repeat(second, first)
        case ast.ListComp(item, [ast.comprehension(iter=ast.Call(ast.Name("range"), [count]), ifs=[])]):
            return _repeat([_read_nested(item)], ast.literal_eval(count))  # its variable is no literal
    value = ast.literal_eval(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")  # noqa: TRY004 - one error for everything unreadable
    return value


def _repeat(value: Any, times: Any) -> list[Any]:
    if not isinstance(value, list) or type(times) is not int or not 0 < times * len(value) <= MOST_NUMBERS:
        raise ValueError("no list that is repeated")
    return value * times


def _shape(value: Any) -> Shape:
    """The shape of nested lists.

    Raises:
        ValueError: They are ragged.
    """
    if not isinstance(value, list):
        return ()
    shapes = {_shape(item) for item in value}
    if len(shapes) != 1:
        raise ValueError("ragged")
    return (len(value), *shapes.pop())


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value
