"""Observations in a program: code that turns an observation into a few numbers."""

from __future__ import annotations

import keyword
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import tuple_expression
from promptpo.errors import UnsupportedSpaceError
from promptpo_sandbox.spaces import plain_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

POOLED = 4
"""Number of block means per side of an image."""

LARGEST_VECTOR = 400
"""Maximum length of one-dimensional observations; longer ones are pooled like images."""

ONE_HOT = 8
"""Maximum number of categories of a Discrete observation for one-hot encoding."""

WIDEST = 1e4
"""Bounds beyond this say nothing about where numbers lie."""

LEAST_SPREAD = 0.1
"""Minimum spread as a share of half the bounds' span, since random actions may stay near the initial state."""

RESERVED = frozenset(
    {
        "p",
        "u",
        "x",
        "obs",
        "np",
        "score",
        "bias",
        "sum",
        "features",
        "clip",
        "level",
        "largest",
        "pool",
        "self",
    }
)
"""Names used by the program itself."""


@dataclass(frozen=True, slots=True)
class Features:
    """How a policy reads its observation.

    Attributes:
        names: One variable name per number.
        lines: Body of ``features(obs)``, which returns a list with one number per name.
        helpers: Module-level functions and constants used by the body.
        each: One expression per number, if all have simple ones.
    """

    names: tuple[str, ...]
    lines: tuple[str, ...]
    helpers: tuple[str, ...] = ()
    each: tuple[str, ...] = ()


def read_observation(
    space: spaces.Space[Any],
    seen: Sequence[Any] = (),
    called: Mapping[str, str] | None = None,
) -> Features:
    """Return the code that reads observations of a space as a flat list of numbers of order one.

    Numbers are centred on their mean, in standard deviations of the observations seen; categories become one-hot or a fraction,
    images become block means, and text is ignored.

    Args:
        space: The observation space.
        seen: Some observations.
        called: Names of components, such as ``obs[0]`` to ``cart_position``.

    Raises:
        UnsupportedSpaceError: The space has no fixed number of entries.
    """
    parts = list(_parts(space, "obs", "x", seen))
    names = _real_names(tuple(name for part in parts for name in part.names), parts, called or {})
    if not names:
        return Features(("one",), ("return [1.0]",))
    each = tuple(value for part in parts for value in part.each)
    each = each if len(each) == len(names) else ()
    if len(parts) == 1:
        return Features(names, (f"return {parts[0].expression}",), parts[0].helpers, each)
    lines = ["numbers = []"]
    lines += [f"numbers += {part.expression}" for part in parts]
    helpers = tuple(dict.fromkeys(helper for part in parts for helper in part.helpers))
    return Features(names, (*lines, "return numbers"), helpers, each)


def count_states(space: spaces.Space[Any]) -> int | None:
    """Return the number of distinct observations of a space; None if it is not composed of finite spaces."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return math.prod(int(n) for n in np.ravel(space.nvec))
    if isinstance(space, spaces.MultiBinary):
        return int(2 ** int(np.prod(space.shape)))
    if isinstance(space, spaces.Tuple | spaces.Dict):
        counts = [count_states(sub) for sub in subspaces(space)]
        return None if None in counts or not counts else math.prod(c for c in counts if c is not None)
    return None


def subspaces(space: Any) -> list[spaces.Space[Any]]:
    """Return the subspaces of a Tuple or Dict space, in order."""
    return list(space.spaces.values()) if isinstance(space.spaces, dict) else list(space.spaces)


@dataclass(frozen=True, slots=True)
class _Part:
    names: tuple[str, ...]
    expression: str
    helpers: tuple[str, ...] = ()
    path: str = ""
    each: tuple[str, ...] = ()


def _parts(space: spaces.Space[Any], path: str, name: str, seen: Sequence[Any]) -> Iterator[_Part]:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        keys = map(plain_key, space.spaces) if isinstance(space, spaces.Dict) else range(len(space.spaces))
        for key, sub in zip(keys, subspaces(space), strict=True):
            within = [observation[key] for observation in seen]
            yield from _parts(sub, f"{path}[{key!r}]", _join_name(name, key), within)
    elif isinstance(space, spaces.Discrete):
        yield _discrete(space, path, name)
    elif isinstance(space, spaces.Box):
        yield _box(space, path, name, seen)
    elif isinstance(space, spaces.MultiDiscrete):
        top = [max(1, int(n) - 1) for n in np.ravel(space.nvec)]
        yield _Part(_number_names(name, len(top)), f"(np.ravel({path}) / {_array(top)}).tolist()")
    elif isinstance(space, spaces.MultiBinary):
        yield _Part(
            _number_names(name, int(np.prod(space.shape))), f"np.ravel({path}).astype(float).tolist()"
        )
    elif not isinstance(space, spaces.Text):
        raise UnsupportedSpaceError(
            f"program search cannot read a {type(space).__name__} observation space; use a language model."
        )


def _real_names(names: tuple[str, ...], parts: Sequence[_Part], called: Mapping[str, str]) -> tuple[str, ...]:
    """Return the spec's names for numbers if they are unique identifiers; otherwise the numbered names."""
    places = [f"{part.path}[{i}]" if part.path else "" for part in parts for i in range(len(part.names))]
    words = [called.get(place.replace("'", '"'), called.get(place, "")) for place in places]
    usable = {word for word in words if word.isidentifier() and words.count(word) == 1} - RESERVED - {*names}
    usable -= {*keyword.kwlist}
    return tuple(word if word in usable else name for word, name in zip(words, names, strict=True))


def _discrete(space: Any, path: str, name: str) -> _Part:
    n, start = int(space.n), int(space.start)
    index = f"int({path})" if start == 0 else f"(int({path}) - {start})"
    if n <= ONE_HOT:
        return _Part(_number_names(name, n), f"[float({index} == i) for i in range({n})]")
    return _Part((name,), f"[{index} / {n - 1}]")


def _box(space: Any, path: str, name: str, seen: Sequence[Any]) -> _Part:
    size = int(np.prod(space.shape))
    if len(space.shape) > 1 or size > LARGEST_VECTOR:
        return _image(space, path, name)
    low, high = np.ravel(space.low).astype(float), np.ravel(space.high).astype(float)
    known = (np.abs(low) < WIDEST) & (np.abs(high) < WIDEST) & (high > low)
    low, high = np.where(known, low, -1.0), np.where(known, high, 1.0)
    middle, half = (low + high) / 2, (high - low) / 2
    values = np.array([np.ravel(observation) for observation in seen], float)
    if len(seen) > 1:
        moves = values.max(axis=0) > values.min(axis=0)
        middle = np.where(moves, values.mean(axis=0), middle)
        least = np.where(known, LEAST_SPREAD * half, 0.0)
        half = np.where(moves, np.maximum(values.std(axis=0), least), half)
    middle, half = (np.array([float(f"{value:.3g}") for value in each]) for each in (middle, half))
    expression = f"np.ravel({path})"
    if np.any(middle != 0.0):
        expression = f"({expression} - {_array(middle)})"
    if np.any(half != 1.0):
        expression = f"({expression} / {_array(half)})"
    places = [f"{path}[{i}]" for i in range(size)] if space.shape else [f"float({path})"]
    each = tuple(map(_standardize, places, middle, half))
    return _Part(_number_names(name, size), f"{expression}.tolist()", path=path, each=each)


def _standardize(place: str, middle: float, half: float) -> str:
    """Return a standardised number as an expression; constants are floats, since unsigned integers wrap around."""
    if middle:
        place = f"({place} {'-' if middle > 0 else '+'} {abs(middle)})"
    return place if half == 1.0 else f"{place} / {half}"


POOL = '''def pool(image, n):
    """Means of n by n blocks of an image."""
    rows = np.array_split(np.asarray(image, dtype=float), n)
    return [float(np.mean(block)) for row in rows for block in np.array_split(row, n, axis=1)]'''


def _image(space: Any, path: str, name: str) -> _Part:
    top = float(np.max(space.high))
    scale = top if math.isfinite(top) and 0 < top < WIDEST else 1.0
    shape = tuple(int(n) for n in space.shape)
    if len(shape) == 1:
        side = int(math.sqrt(shape[0]))
        path = f"np.ravel({path})[:{side * side}].reshape({side}, {side})"
        shape = (side, side)
    n = min(POOLED, shape[0], shape[1])
    expression = (
        f"pool({path}, {n})" if scale == 1.0 else f"[value / {scale:g} for value in pool({path}, {n})]"
    )
    return _Part(_number_names(name, n * n), expression, (POOL,))


def _join_name(name: str, key: object) -> str:
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in str(key)).strip("_") or "part"
    return f"x_{word}" if name == "x" else f"{name}_{word}"


def _number_names(name: str, n: int) -> tuple[str, ...]:
    return (name,) if n == 1 and name != "x" else tuple(f"{name}{i}" for i in range(n))


def _array(values: Any) -> str:
    numbers = [float(f"{v:.6g}") for v in np.ravel(values)]
    if len(set(numbers)) == 1:
        return repr(numbers[0])
    return f"np.array({numbers})"


def key_function(space: spaces.Space[Any]) -> str:
    """Return the source of ``key(obs)``, which agrees with `promptpo.features.tuning.tabular.key_of`."""
    expression = "int(obs)" if isinstance(space, spaces.Discrete) else tuple_expression(_terms(space, "obs"))
    return f'def key(obs):\n    """The observation as a table key."""\n    return {expression}'


def _terms(space: Any, path: str) -> list[str]:
    if isinstance(space, spaces.Discrete):
        return [f"int({path})"]
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return [f"*(int(v) for v in np.ravel({path}))"]
    keys = map(plain_key, space.spaces) if isinstance(space, spaces.Dict) else range(len(space.spaces))
    return [
        term for k, sub in zip(keys, subspaces(space), strict=True) for term in _terms(sub, f"{path}[{k!r}]")
    ]
